"""The backend as factdrift's kit checks it."""

from my_backend.backend import MyBackend

from factdrift.testing import check_backend


def test_the_model_answers_every_prompt() -> None:
    results = check_backend(MyBackend(answer="Paris"), ["What is the capital of France?"])
    assert [result.text for result in results] == ["Paris"]
