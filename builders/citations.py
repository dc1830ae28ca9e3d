"""BibTeX entries of the papers whose datasets are rebuilt."""

MARGATINA_2023 = """@inproceedings{margatina-etal-2023-dynamic,
  title = {Dynamic Benchmarking of Masked Language Models on Temporal Concept Drift with
           Multiple Views},
  author = {Margatina, Katerina and Wang, Shuai and Vyas, Yogarshi and John, Neha Anna and
            Benajiba, Yassine and Ballesteros, Miguel},
  booktitle = {Proceedings of the 17th Conference of the European Chapter of the Association for
               Computational Linguistics},
  year = {2023}
}"""

DHINGRA_2022 = """@article{dhingra-etal-2022-time,
  title = {Time-Aware Language Models as Temporal Knowledge Bases},
  author = {Dhingra, Bhuwan and Cole, Jeremy R. and Eisenschlos, Julian Martin and
            Gillick, Daniel and Eisenstein, Jacob and Cohen, William W.},
  journal = {Transactions of the Association for Computational Linguistics},
  volume = {10},
  pages = {257--273},
  year = {2022}
}"""

CHEN_2021 = """@inproceedings{chen-etal-2021-dataset,
  title = {A Dataset for Answering Time-Sensitive Questions},
  author = {Chen, Wenhu and Wang, Xinyi and Wang, William Yang},
  booktitle = {Proceedings of the Neural Information Processing Systems Track on Datasets and
               Benchmarks},
  year = {2021}
}"""

JANG_2022 = """@inproceedings{jang-etal-2022-towards,
  title = {Towards Continual Knowledge Learning of Language Models},
  author = {Jang, Joel and Ye, Seonghyeon and Yang, Sohee and Shin, Joongbo and Han, Janghoon and
            Kim, Gyeonghun and Choi, Stanley Jungkyu and Seo, Minjoon},
  booktitle = {International Conference on Learning Representations},
  year = {2022}
}"""

LISKA_2022 = """@inproceedings{liska-etal-2022-streamingqa,
  title = {{StreamingQA}: A Benchmark for Adaptation to New Knowledge over Time in Question
           Answering Models},
  author = {Liška, Adam and Kočiský, Tomáš and Gribovskaya, Elena and Terzi, Tayfun and
            Sezener, Eren and Agrawal, Devang and de Masson d'Autume, Cyprien and
            Scholtes, Tim and Zaheer, Manzil and Young, Susannah and
            Gilsenan-McMahon, Ellen and Austin, Sophia and Blunsom, Phil and Lazaridou, Angeliki},
  booktitle = {Proceedings of the 39th International Conference on Machine Learning},
  year = {2022}
}"""
