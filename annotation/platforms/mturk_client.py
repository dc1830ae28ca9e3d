"""A client of MTurk's API, and what goes wrong with it."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

from builders.errors import UserError

Site = Literal["sandbox", "production"]
ENDPOINTS: dict[Site, str] = {
    "sandbox": "https://mturk-requester-sandbox.us-east-1.amazonaws.com",
    "production": "https://mturk-requester.us-east-1.amazonaws.com",
}
CLOSED = (
    "MTurk takes no new requesters since 30 July 2026: this works with an account there that is "
    "older, linked to your AWS account; without one, use --platform static"
)
_PAGE = 100
"""Most results of one call."""


def connect(site: Site, endpoint: str | None = None) -> Any:
    """A boto3 client for a site; never for production unless that is the site."""
    try:
        import boto3
        from botocore.config import Config
    except ImportError:
        raise UserError("the API of MTurk needs boto3", hint="pip install boto3") from None
    config = Config(
        retries={"mode": "standard", "max_attempts": 8}, connect_timeout=20, read_timeout=60
    )
    address = endpoint or ENDPOINTS[site]
    with explained():
        session = boto3.session.Session(region_name="us-east-1")
        return session.client("mturk", endpoint_url=address, config=config)


def pages(call: Callable[..., dict[str, Any]], name: str, **asked: Any) -> Iterator[Any]:
    """Everything of a list that comes in pages."""
    token: dict[str, str] = {}
    while True:
        answer = call(MaxResults=_PAGE, **asked, **token)
        yield from answer.get(name, [])
        if not answer.get("NextToken"):
            return
        token = {"NextToken": answer["NextToken"]}


def code(error: Any) -> str:
    """What MTurk calls an error."""
    answer = error.response
    return f"{answer.get('TurkErrorCode') or ''} {answer.get('Error', {}).get('Message') or ''}"


@contextmanager
def explained() -> Iterator[None]:
    """What goes wrong between here and MTurk is for the user to mend."""
    from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError

    try:
        yield
    except NoCredentialsError:
        hint = "set them up as for any AWS tool: environment, ~/.aws or a role"
        raise UserError("boto3 finds no AWS credentials", hint=hint) from None
    except (ClientError, BotoCoreError) as error:
        text = re.sub(r"\bA[KS]IA[A-Z0-9]{8,}", "…", str(error))[:400]
        raise UserError(f"MTurk: {text}", hint=f"run it again to go on; {CLOSED}") from None
