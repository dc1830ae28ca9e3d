"""Given names, and family names that stand first, as news of many countries writes them."""

from builders.questions.english.lexicon import words

GIVEN = words("""
    Aaron Abbas Abdalla Abdelaziz Abdelmadjid Abdi Abdoulaye Abdrabbuh Abdul Abdulla Abdullah
    Abdullahi Abdurrahman Abel Abhisit Abiy Abner Abraham Abu Abubakar Acisclo Adalberto Adam
    Adama Adele Adil Adolf Adolfo Adrian Adrienne Aftab Agata Agathon Agnès Ahmad Ahmed Ahmet
    Ahsan Aisha Aisling Ajit Akbar Akhilesh Akie Akio Akira Al Alaa Alain Alan Alasdair Alassane
    Alastair Albert Alberto Albin Alec Alejandro Aleksandar Alenka Ales Alessandro Alex
    Alexander Alexandra Alexandria Alexei Alexey Alexis Alfonso Alfred Alfredo Ali Alice Alicia
    Alison Alistair Allan Allen Almazbek Alvaro Amado Amadou Amanda Amber Ambika Ambrose Ameenah
    Amelia Amin Aminul Amir Amit Ammon Amrullah Amy Ana Anand Anastasia Anatoly Anders Andranik
    Andrea Andreas Andrei Andrej Andrew Andry Andrzej André Andrée Andrés Andy Anet Angela
    Angelina Angelino Angelo Angus Anies Anil Anita Anitha Ann Anna Annabelle Annalena
    Annastacia Anne Annegret Annette Annick Annie Anthony Anton Antonia Antonio Antonis António
    Anwar Anyang Aretha Arieh Ariel Arif Arkady Arlen Arlene Armen Armin Arnold Arsen Arseniy
    Arthur Arvind Arvydas Asa Asad Asaduzzaman Asha-Rose Ashfaq Ashkan Ashley Ashni Ashraf
    Ashton Asif Aslan Assane Assimi Atal Atiku Atsutoshi Atul Augusto Aung Avdullah Avi Avichai
    Avigdor Avraham Ayaan Ayanna Ayesha Ayman Baitullah Baktykozha Balach Baltasar Bambang Ban
    Barack Barbara Bardavcol Barend Barham Barlen Barnaby Barry Bashar Basil Basuki Batista Bea
    Beata Beatrice Beji Bekir Belinda Ben Benazir Benigno Benjamin Benny Bernard Bernardo Bernie
    Berta Bertie Bertrand Beryl Betsy Betty Bev Beyoncé Bhumibol Bianca Bidya Bidzina Bill
    Billie Binali Binyamin Bjarni Blaine Blaise Bob Bobby Bongbong Boni Boris Borut Boubou Boyko
    Brad Bradley Brandee Brandon Brenda Brendan Bret Brett Brian Brice Bridget Brigitte Britney
    Brittney Bronisław Brooke Bruce Bruno Bryan Budhi Burgess Buzz Byron Calin Callixte Calvin
    Camille Candace Cao Carl Carla Carles Carlos Carlotta Carly Carmel Carmen Carole Carolina
    Caroline Carolyn Carrie Carwyn Cassandra Cate Catherine Cathie Cathleen Cathy Cecil Cecilia
    Chadwick Channing Charles Charlie Chaturon Chaudhry Chen Cheng Cheuk Chinua Chitalu Chloe
    Choe Chris Christian Christine Christopher Chrystia Chuck Chuka Cindy Claire Clara Clare
    Clarence Clark Claude Claudia Clifford Clint Colette Colin Colleen Conall Condoleezza Connor
    Conny Conrad Constance Corazon Corey Cori Cory Costas County Craig Crispin Cristiano
    Cristina Curtis Cynthia Cyril Cyrus Czesław Cécilia Dalassa Dale Dalton Damian Damien Dan
    Dana Daniel Daniele Danielle Danny Daphne Darrell Darren Darryl Daryl Dave David Dawn Dean
    Debbie Deborah Debra Debretsion Declan Deirdre Delcy Demetris Denis Denise Dennis Denny
    Denys Derek Dermot Derrick Derryn Desmond Deval Devin Diana Diane Dianne Dick Didier Diego
    Dieter Dilma Dimitris Dino Djambawa Dmitry Dmytro Domenic Dominic Dominik Dominique Don
    Donald Donna Dora Doris Dorothy Doug Douglas Drew Duane Duncan Dustin Dwight Dylan Eamon
    Ebrahim Ed Eddie Edgar Edi Edouard Eduard Eduardo Edward Edwin Efkan Efraim Ehud Eileen
    Elaine Eleanor Elena Eli Elias Eliot Elisabeth Elizabeth Elke Ella Ellen Elleni Ellie Elliot
    Elon Elton Emil Emile Emilia Emily Emirsyah Emma Emmanuel Emmerson Emmet Emmy Emomali Enda
    Enele Engelbert Enrico Enrique Enzo Eric Erik Erin Erna Ernest Ernesto Ersin Eshaq Essam
    Esther Ethan Etienne Eugene Eva Evangelos Evelyn Evo Evžen Ewa Ewan Fahrettin Faisal Faith
    Fani Farouk Fathi Fatima Faure Faustin-Archange Fawzi Federico Felicity Felipe Felix
    Ferdinand Ferenc Fernando Fiamē Fidel Filipe Finn Fiona Firmin Fishwick Floribert Florin
    Folmer Fouad Frances Francis Francisco Francois Frank Frank-Walter Franklin Frans François
    François-Philippe Fred Freddy Frederic Frederick Frederik Fredrik Fritz Fu Fuad Fuat Fumio
    Félix Gabi Gabriel Gail Galarrwuy Gareth Garret Garry Gary Gaston Gavin Geert Geir Gene
    Genevieve Geng Geoff Geoffrey George Georges Georgie Georgina Georgios Georgiy Gerald Gerard
    Gerardo Gerhard Gerry Gholam-Hossein Gianni Gilbert Gilberto Gilles Gillian Gina Giorgi
    Giorgia Giorgio Giorgos Giovanni Girija Girish Gitanas Giuseppe Gjorge Gladys Glen Glenn
    Glenys Gloria Godefroid Gonen Gonzalo Goodluck Gopal Gordon Gotabaya Gough Grace Graeme
    Graham Greg Gregory Greig Greta Gretchen Guadalupe Guido Guillaume Guillermo Guo Gurbanguly
    Gustavo Gustiono Guy Guðni Gérald Habib Haider Hailemariam Haim Hakimullah Hama Hamdullah
    Hami Hamid Hamish Hani Hansjoerg Hardeep Harjit Harold Harriet Harry Haruki Hashim Hassan
    Hau Hayden Hazem Heather Hector Heide Heiko Heinz Helen Helga Helmut Henri Henrique Henry
    Herb Herman Hermann Hernando Herve Hery Hesham Hichem Hilary Hilda Hillary Hisham Hissène
    Holly Hor Horacio Horst Hoshyar Hosni Hossein Howard Hrant Hu Huang Hubert Hudaýberdi Hugo
    Humphrey Hun Hussein Héctor Iain Iajuddin Ian Ibrahim Ida Idriss Ieng Ifereimi Ignatius
    Ignazio Igor Ilene Ilham Ilir Ilkka Imran Ingibjörg Ingrid Innes Ion Iraj Irakli Irene Irina
    Irini Iris Iryna Isa Isaac Isabel Isabelle Isaias Ismael Ismail Issa Issaraphan Issoufou
    Ivan Ivana Ivanka Ivo Ivor Iván Jacek Jacinda Jacinta Jack Jackie Jaco Jacob Jacques
    Jacques-Édouard Jacqui Jadranka Jafar Jafer Jair Jakaya Jake Jalal Jamal James Jamie Jamil
    Jan Jane Janet Janez Jared Jarosław Jasmine Jason Javad Javier Jay Jean Jean-Bertrand
    Jean-Claude Jean-Michel Jean-Pierre Jean-Yves Jeanine Jeannie Jeff Jeffery Jeffrey Jeh Jen
    Jendayi Jennifer Jenny Jens Jered Jeremy Jerome Jerrob Jerrold Jerry Jesse Jessica Jessie
    Jhala Jia Jiang Jihad Jill Jim Jimmy Jing-Shan Jo Joachim Joan Joanna Joanne Jodi Jody Joe
    Joel Joey Johann Johannes John John-Alex John-Paul Johnny Joko Jon Jonathan Joni Jorge Jose
    Josef Josep Joseph Josephine Josette Josh Joshua José Jovenel Jovito Joyce João Jr Juan
    Juanita Jude Judith Judy Jukka Julia Julian Juliane Julianne Juliano Julie Julin Julius
    Jurjen Jusman Jussie Justin Juvénal Jyri Ján Jóhanna Jürgen Kais Kaitlyn Kaja Kamal Kamala
    Kamalesh Karel Karen Karim Karima Karina Karine Karl Karolos Kasim Kassym-Jomart Kate
    Katerina Katherine Kathleen Kathryn Kathryne Kathy Katie Katrín Katsuaki Katy Kay Kazem
    Keiko Keir Keisha Keith Kelly Kelvin Ken Kenneth Kerri Kerrie Kerry Ketanji Kevin Kgalema
    Khadga Khadija Khaled Khaleda Khalid Khieu Khurshid Kieren Kiichi Kim Kimberle Kimberly
    Kiril Kirk Kirsten Kirstjen Kirsty Kiyo Kizza Klaus Kodiyeri Kofi Kolinda Konstantinos
    Kostas Kristina Kubatbek Kurmanbek Kurt Kwame Kwasi Kyle Kylie Kyriakos Lachlan Laisenia
    Lalu Lana Lance Lansana Lara Larry Lars Laura Lauren Laurent Laurentino Lawrence LeVar Leah
    Lech Lee Leena Leigh Leila Leilani Leland Len Lena Leni Lenín Leo Leon Leonardo Leonel
    Leonid Leonilda Leopold Leopoldo Les Lesa Leslie Leticia Levy Lewis Li Liam Libby Linas
    Linda Lindsay Lindsey Lionel Lisa Liu Liz Ljube Lloyd Lonnie Lorenzo Loretta Lori Lorie
    Lorna Lorraine Lou Louis Louise Luca Lucas Lucia Lucille Lucy Ludovic Ludwig Luigi Luis Luiz
    Luke Lula Lung-pin Luís Lydia Lyndon Lynelle Lynn Léopold Maciej Macky Magdalena Magdy
    Maggie Magnus Magomed Maha Mahamadou Mahamane Mahamat Mahathir Mahealani Mahesh Mahinda
    Mahmoud Maia Maile Maithripala Major-General Mal Malala Malam Malcolm Malik Mamadou Mamady
    Mamdouh Manasseh Maninder Manmohan Manny Manohar Manouchehr Manuel Mao Mar Marc Marcel
    Marcelo Marcia Marco Marcus Margaret Margarita Margie Margot Mari Maria Mariano Marie
    Marie-Justine Marilyn Marina Marine Mario Marion Marise Marius Mariusz Marjorie Mark Markos
    Markus Markwayne Marlene Marlon Maroš Marsha Marta Martha Martin Martti Marty Martín Marvin
    Mary Maryam María Masnellyarti Mateusz Mathias Mathieu Matt Matteo Matthew Matti Maureen
    Maurice Mauricio Max Maxime Maxine Maya Mazie Medha Meerjady Meg Megan Meghan Mehdi Mehmet
    Mel Melanie Meles Melinda Melissa Menzies Meredith Mette Mevlüt Mia Mian Micaela Michael
    Michaelia Michalis Michel Michele Michelle Micheál Michèle Mick Miguel Mike Mikhail Mikheil
    Mildred Milo Miloš Mindy Mir-Hossein Miranda Mirko Mitch Mitchell Mitsuo Mitt Miyeegombiin
    Mo Moctar Moeketsi Mohamed Mohammad Mohammad-Ali Mohammed Mohsen Mokgweetsi Molly Mona
    Monica Monika Moon Morris Moses Moshe Mostafa Moussa Mswati Muammar Muhammad Muhammadu
    Muhyiddin Mujiv Muntasim Muriel Murray Mushahid Mustafa Mustapha Mwai Mykola Myron Nabeel
    Nabil Nadia Naftali Najib Naledi Nana Nancy Naomi Naoto Narendra Nasser Natalia Natalie
    Natalya Natasha Nathan Natsuko Nawaz Nayib Neal Ned Neil Nelly Nelson Nemat Nemesio Nestor
    Netty Neville Ngiare Ngozi Nguyen Nguyễn Nicholas Nick Nicky Nicola Nicolas Nicole Nicolás
    Nicos Nie Niel Nigel Nigella Nikki Nikol Nikola Nikolai Nikos Nilda Nina Noah Noam Noel Nola
    Nomvula Norbert Norm Norman Norodom Noureddine Nouri Nuri Nurmuhammet Nursultan Nydia Néstor
    Obaidul Octavio Okey Oksana Ola Olaf Oleg Oleksandr Oleksiy Olga Oliver Olivia Olivier
    Ollanta Olu Olusegun Olympia Omah Omar Omer Orrin Osama Osamu Oscar Osvaldo Otto Ousman
    Ousmane Pablo Pamela Panagiotis Paolo Pascal Pat Patrice Patricia Patrick Patty Paul
    Paul-Henri Paula Paulina Pauline Paulo Pavel Pavithra Pedro Peggy Penny Percy Perfecto Perla
    Pervez Peta Pete Peter Petr Petro Phil Philip Philippa Philippe Phoebe Phyllis Phyu Pierce
    Pierre Pohiva Polly Porfirio Pravind Prayut Prayuth Preet Priti Pru Purificacion Purnomo
    Pyotr Péter Qadir Qasem Qassim Qian Quentin Quincy Quique Rachel Radosław Radovan Rae Rafael
    Rafic Rafik Raheel Rahim Rahm Rahul Raila Rainer Rajat Ralf Ralph Ram Rameshwar Rami Ramona
    Ramush Ramzan Ramón Randy Ranil Raphael Raquel Ras Rashid Ratan Ratko Rauf Ray Raymond Raúl
    Reba Rebecca Rebiya Recep Reg Reggie Regina Reinhard Renato Renzo René Renée Retno Reuven
    Rex Reynaldo Rhodri Rhonda Rhys Riad Ric Ricardo Richard Rick Ricky Riek Rimbink Rishi Risto
    Rita Rizal Rob Robbie Robert Roberto Robin Robyn Roch Rod Rodney Rodolfo Rodrigo Roger
    Rogerio Roland Rolf Roman Romano Ron Rona Ronald Ronaldo Ronnie Ronny Rory Rosa Rosalind
    Rosanna Rosemary Rosie Ross Rostin Roxana Roxanne Roy Roza Ruben Rudy Rufus Ruhollah Rupert
    Rupiah Russ Russell Ruth Ryan Saad Sabrina Saddam Sadiq Sadyr Said Sajid Saleh Sali Sally
    Salman Salome Salva Salvador Sam Samak Samantha Sameh Samia Samir Samira Samuel Sanae Sandra
    Sandy Sanjay Sanjeev Sanna Sara Sarah Sarath Sathya Satur Saul Sauli Sawet Scott Sean
    Sebastian Sebastián Sehar Selma Sepp Serena Serge Sergei Sergey Sergio Serhiy Serzh Seth
    Severo Shah Shahid Shaikh Shakil Shane Shannon Sharan Sharon Shashi Shaukat Shaul Shaun
    Shavkat Shawn Sheila Sheldon Shelly Shen Sherman Shilpa Shimon Shinzo Shinzō Shireen Shirley
    Shivraj Shmuel Sidi Sidiki Sidiqul Sidney Sigmar Sigmundur Sigrid Sikhanyiso Silvan Silvana
    Silvia Silvio Sima-Sadat Simon Simone Sipho Sirajuddin Sitiveni Slobodan Sofía Solomon
    Somchai Sonia Sonny Sooronbay Sophia Sophie Sorin Soumaila Soumaïla Soumeylou Spencer Stacey
    Stacy Stan Stanislav Stanley Stefan Stefano Stella Stephane Stephanie Stephen Steve Steven
    Stockwell Stormy Stuart Stéphane Sue Suhail Sujata Sukhpreet Sumio Sundar Surangel Surapong
    Susan Sushma Susilo Sussan Suzan Suzanne Sven Svetlana Sviatlana Svyatoslav Swami Syed
    Sylvia Sérgio Süleyman Tabaré Tae Taha Takafumi Takehiko Takemasa Takeshi Takuya Tamie Tammy
    Tamsin Tandja Taneti Tania Tanner Tanya Tara Tarek Tariq Tarja Taro Tarō Tassos Taylor Ted
    Tedros Tendai Tenzin Teodoro Terence Teresa Terrence Terrie Terry Thabo Thaksin Than Thein
    Thelma Thelton Theodore Theresa Thierry Thom Thomas Thorbjoern Tiger Tim Timoleón Timothy
    Timur Tina Tobias Toby Todd Tom Tomiichi Tomislav Tommy Tonia Tony Tose Toshimitsu Tracy
    Traian Travis Trevor Trish Tristan Troy Truman Trần Tsai Tsakhiagiin Tuilaepa Tupou Tyler
    Tyronne Tzipi Uhuru Ulysses Umaro Umaru Uri Ursula Usain Uwe Vaclav Vadym Valdis Valentin
    Valentina Valerie Valéry Vanessa Vang Venus Vera Veronica Veronika Vicente Vickie Vicky
    Victoire Victor Vidkun Vikram Viktar Viktor Vince Vincent Viorica Viswanathan Vitali
    Vitaliano Vitaly Vittorio Vivian Viviane Vivien Vivienne Vlad Vladimir Vojislav Volodymyr
    Voreqe Vuk Vyacheslav Václav Wade Waheed Waldir Waleed Walid Walter Wanda Wang Warren
    Warwick Wavel Wayne Wei Wen Wendy Werner Wesley Wifredo Wilbur Wilfried Wilhelm Will William
    Willie Wilma Winston Wladyslaw Wojciech Wolfgang Wong Wu Wyatt Xanana Xavi Xavier Xi Xiomara
    Xu Yaakov Yacouba Yahya Yair Yang Yasmin Yasser Yasukazu Yasuo Yayi Yaşar Yeardley Yegor
    Yelena Yevgeny Yingluck Yisrael Yolanda Yoriko Yoshihide Yoshihiko Yoshihiro Yosuke Yousaf
    Yousef Youssef Yoweri Yuan Yuki Yukio Yukiya Yuko Yulia Yuri Yuriko Yuriy Yury Yusuf Yuval
    Yves Yvette Yvonne Zabihullah Zabiullah Zach Zachary Zail Zainab Zane Zara Zemerai Zeng
    Zhang Zhao Zheng Zhenyi Zhou Zhu Ziggy Zinaida Zine Zoe Zoran Zuzana Zweli Álvaro Édouard
    Émile Éric Óscar Łukasz
""")
