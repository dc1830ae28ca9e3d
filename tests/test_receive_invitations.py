"""Who is given HITs, and from whom they are taken: signed links, tokens, the register."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="needs uvicorn (extra serve)")
pytest.importorskip("starlette", reason="needs Starlette (extra serve)")
pytest.importorskip("jwt", reason="needs PyJWT (extra serve)")

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from starlette.datastructures import Headers

from factdrift.annotation.batch import HitBatch
from factdrift.annotation.matching import hash_id, read_salt
from factdrift.annotation.order import Delivery, ServingOrder
from factdrift.annotation.people import PersonEvent, Register
from factdrift.annotation.receive.desk import Desk, open_desk
from factdrift.annotation.receive.invitations import Invitation, SignedLinks
from factdrift.annotation.receive.server import is_foreign
from factdrift.annotation.receive.tokens import KeyList
from factdrift.builders.core.errors import UserError
from tests.annotation_workers import batch_of
from tests.file_server import QuietHandler, serve_requests
from tests.receiving import answers_of, place_link


@pytest.fixture(scope="module")
def hit_batch(tmp_path_factory: pytest.TempPathFactory) -> HitBatch:
    """Two HITs, each for two workers."""
    return batch_of(tmp_path_factory.mktemp("invitations"))


@contextmanager
def desk_of(
    hit_batch: HitBatch, tmp_folder: Path, now: float = 1_000.0, **more_values: Any
) -> Iterator[Desk]:
    places = {"out": tmp_folder / "results", "judgments": tmp_folder / "judgments"}
    serving_order = ServingOrder(batch=hit_batch.folder, **{**places, **more_values})
    with open_desk(serving_order, now=lambda: now) as desk:
        yield desk


def visit(worker_id: str, session: str = "", **more_values: Any) -> dict[str, Any]:
    return {"worker": worker_id, "assignment": session, **more_values}


def invited(desk: Desk, link_text: str) -> Invitation:
    invitation = desk.invitations.read(link_text)
    assert invitation is not None
    return invitation


def hand_in(
    desk: Desk, hit_reply: Mapping[str, Any], worker_id: str, session: str, link_text: str
) -> int:
    submission = answers_of(hit_reply["hit"], desk.batch.id, worker_id, assignment=session)
    return desk.take(json.dumps(submission), invited(desk, link_text))[0]


def test_only_links_that_were_given_out_invite(hit_batch: HitBatch) -> None:
    links = SignedLinks(hit_batch)
    link_text = place_link(hit_batch, 2, 1)
    assert links.read(f"{link_text}&PROLIFIC_PID=ann") == Invitation(slot="2.1", hit="2")
    changed_links = [
        "",
        "?hit=2",
        link_text.replace("slot=1", "slot=2"),
        link_text.replace("hit=2", "hit=1"),
        link_text.replace("hit=2", "hit=+2"),
        link_text.replace("hit=2", "hit=٢"),
        link_text[:-1],
        link_text[:-1] + "é",
        link_text.replace("hit=2", "hit=" + "2" * 5_000),
        "?" + "&".join(f"a{number}=1" for number in range(500)) + link_text,
    ]
    assert [links.read(changed_link) for changed_link in changed_links] == [None] * 10
    assert hit_batch.link_key.decode() not in repr(hit_batch)


def test_nine_strangers_keep_nothing_from_an_honest_worker(
    hit_batch: HitBatch, tmp_path: Path
) -> None:
    """They have her link and no other: under nine ids they hold nothing, and cost her nothing."""
    own_link = place_link(hit_batch, 1, 1)
    with desk_of(hit_batch, tmp_path) as desk:
        http_status, hit_reply = desk.give(visit("ann"), invited(desk, own_link))
        assert http_status == 200
        for number in range(9):
            stranger = visit(f"stranger{number}")
            assert desk.give(stranger, invited(desk, own_link))[0] == 403
            assert desk.leave(stranger, invited(desk, own_link)) == (200, {})
            assert hand_in(desk, hit_reply, f"stranger{number}", "", own_link) == 403
            other_link = place_link(hit_batch, 1, 2)
            assert desk.leave(visit("ann"), invited(desk, other_link))[0] == 403
            assert hand_in(desk, hit_reply, "ann", "", other_link) == 403
        assert desk.pool.counts()["in_hand"] == 1
        assert hand_in(desk, hit_reply, "Ann", "", own_link) == 200  # one person in any spelling
        hit_reply = desk.give(visit("ann", next=True), invited(desk, own_link))[1]
        assert hand_in(desk, hit_reply, "ann", "", own_link) == 200
        assert desk.refused == 0  # what strangers sent fills no file


def test_a_place_is_for_one_session_and_goes_on_when_it_was_left(
    hit_batch: HitBatch, tmp_path: Path
) -> None:
    """What happened is known after a restart, too."""
    link_text, other_link = place_link(hit_batch, 1, 1), place_link(hit_batch, 1, 2)
    with desk_of(hit_batch, tmp_path) as desk:
        first_reply = desk.give(visit("ann", "s1"), invited(desk, link_text))[1]
        # another session of hers takes the HIT over: a link holds one at a time
        assert desk.give(visit("ann", "s2"), invited(desk, link_text))[0] == 200
        assert desk.pool.counts()["in_hand"] == 1
        assert desk.give(visit("bob", "s3"), invited(desk, link_text))[0] == 403
        assert desk.leave(visit("ann", "s2"), invited(desk, link_text))[0] == 200
    with desk_of(hit_batch, tmp_path) as desk:
        bob_reply = desk.give(visit("bob", "s3"), invited(desk, link_text))[1]
        assert desk.give(visit("ann", "s1"), invited(desk, link_text))[0] == 403
        # what ann was given before she left is taken from her all the same
        assert hand_in(desk, first_reply, "ann", "s1", link_text) == 200
    with desk_of(hit_batch, tmp_path) as desk:
        assert hand_in(desk, bob_reply, "bob", "s3", other_link) == 403
        assert hand_in(desk, bob_reply, "bob", "s3", link_text) == 200
    with desk_of(hit_batch, tmp_path) as desk:
        done_reply = desk.give(visit("ann", "s1"), invited(desk, link_text))
        assert done_reply[0] == 200 and done_reply[1]["done"]["more"] is False
        assert desk.give(visit("bob", "s9"), invited(desk, link_text))[0] == 409  # used up


def test_what_was_abandoned_goes_to_others_with_its_link(
    hit_batch: HitBatch, tmp_path: Path
) -> None:
    link_text = place_link(hit_batch, 1, 1)
    with desk_of(hit_batch, tmp_path) as desk:
        ann_reply = desk.give(visit("ann", "s1"), invited(desk, link_text))[1]
        hand_until = desk.pool.handed["ann", "s1"].until
    with desk_of(hit_batch, tmp_path, now=hand_until - 1) as desk:
        assert desk.give(visit("bob", "s2"), invited(desk, link_text))[0] == 403
    with desk_of(hit_batch, tmp_path, now=hand_until) as desk:
        bob_reply = desk.give(visit("bob", "s2"), invited(desk, link_text))[1]
        assert bob_reply == ann_reply
        assert hand_in(desk, ann_reply, "ann", "s1", link_text) == 200  # late, and still hers


def test_a_link_is_good_for_so_many_hits(hit_batch: HitBatch, tmp_path: Path) -> None:
    link_text = place_link(hit_batch, 2, 1)
    with desk_of(hit_batch, tmp_path, most=1) as desk:
        hit_reply = desk.give(visit("ann"), invited(desk, link_text))[1]
        assert hand_in(desk, hit_reply, "ann", "", link_text) == 200
    with desk_of(hit_batch, tmp_path, most=1) as desk:
        no_more = desk.give(visit("ann", next=True), invited(desk, link_text))[1]
        assert no_more["done"]["more"] is False
    with desk_of(hit_batch, tmp_path, most=2) as desk:
        assert "hit" in desk.give(visit("ann", next=True), invited(desk, link_text))[1]


def test_nothing_is_given_that_cannot_be_written_down(
    hit_batch: HitBatch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a full disk nobody has a HIT that a restart would not know of."""

    def fail(journal_line: str) -> None:
        raise OSError(28, "No space left on device")

    link_text = place_link(hit_batch)
    with desk_of(hit_batch, tmp_path) as desk:
        with monkeypatch.context() as full_disk:
            full_disk.setattr(desk.given, "append", fail)
            with pytest.raises(OSError, match="No space"):
                desk.give(visit("ann"), invited(desk, link_text))
        assert desk.pool.counts()["in_hand"] == 0
        hit_reply = desk.give(visit("ann"), invited(desk, link_text))[1]
        with monkeypatch.context() as full_disk:
            full_disk.setattr(desk.given, "append", fail)
            with pytest.raises(OSError, match="No space"):
                desk.leave(visit("ann"), invited(desk, link_text))
        assert desk.pool.counts()["in_hand"] == 1
        assert hand_in(desk, hit_reply, "ann", "", link_text) == 200


def test_excluded_and_erased_people_get_nothing(hit_batch: HitBatch, tmp_path: Path) -> None:
    """Also those of whom the register hears while the batch is served."""
    salt = read_salt(hit_batch.folder.parent.parent)
    judgments_folder, register = tmp_path / "judgments", Register()
    judgments_folder.mkdir()

    def note(worker_id: str, event: Any) -> None:
        worker_hash = hash_id(salt, "worker", "static", worker_id)
        register.add(judgments_folder, [PersonEvent(worker_hash, event, "static")])

    links = {worker_id: place_link(hit_batch, 1, 1) for worker_id in ("ann", "bob")}
    with desk_of(hit_batch, tmp_path) as desk:
        ann, bob = (invited(desk, link_text) for link_text in links.values())
        hit_reply = desk.give(visit("ann"), ann)[1]
        note("ann", "excluded")
        assert desk.give(visit("ANN"), ann)[0] == 403
        # her work is kept, for whoever decides on her pay
        assert hand_in(desk, hit_reply, "ann", "", links["ann"]) == 200
        note("ann", "readmitted")
        assert desk.give(visit("ann"), ann)[0] == 200
        note("ann", "erased")
        assert desk.give(visit("ann"), ann)[0] == 403
        assert hand_in(desk, hit_reply, "ann", "", links["ann"]) == 403
        assert desk.give(visit("bob"), bob)[0] == 403  # her link


def test_a_register_without_its_salt_stops_the_server(tmp_path: Path) -> None:
    hit_batch = batch_of(tmp_path)
    (tmp_path / "judgments").mkdir()
    Register().add(tmp_path / "judgments", [PersonEvent("0" * 16, "excluded")])
    with pytest.raises(UserError, match="salt"), desk_of(hit_batch, tmp_path):
        pass


def test_a_batch_without_a_key_has_to_be_served_unsigned(tmp_path: Path) -> None:
    hit_batch = batch_of(tmp_path)
    (hit_batch.folder / "links.key").unlink()
    with pytest.raises(UserError, match="without signed links"), desk_of(hit_batch, tmp_path):
        pass
    with desk_of(hit_batch, tmp_path, unsigned=True) as desk:
        assert desk.give(visit("ann"), invited(desk, ""))[0] == 200
        # ids are what people say; but what was given to nobody is taken from nobody
        hit_reply = {"hit": {"id": hit_batch.hits[0].id, "items": []}}
        assert hand_in(desk, hit_reply, "eve", "", "") == 403


@pytest.mark.parametrize(
    ("headers", "foreign"),
    [
        ({}, False),
        ({"sec-fetch-site": "same-origin", "origin": "https://other"}, False),
        ({"sec-fetch-site": "none"}, False),
        ({"sec-fetch-site": "cross-site"}, True),
        ({"sec-fetch-site": "same-site"}, True),
        ({"origin": "https://x.org", "host": "x.org"}, False),
        ({"origin": "https://x.org:8443", "host": "x.org:8443"}, False),
        ({"origin": "https://evil.example", "host": "x.org"}, True),
        ({"origin": "null", "host": "x.org"}, True),
    ],
)
def test_posts_of_foreign_pages(headers: dict[str, str], foreign: bool) -> None:
    assert is_foreign(Headers(headers)) is foreign


# Prolific's secured parameters: real keys, and a real server of their list.

PID, SID, STUDY = "5" * 24, "6" * 24, "7" * 24


@pytest.fixture(scope="module")
def prolific_batch(tmp_path_factory: pytest.TempPathFactory) -> HitBatch:
    delivery = Delivery(url="https://study.example.org/a")
    return batch_of(tmp_path_factory.mktemp("secured"), platform="prolific", delivery=delivery)


@pytest.fixture(scope="module")
def private_keys() -> dict[str, Any]:
    return {key_id: rsa.generate_private_key(65537, 2048) for key_id in ("current", "made-up")}


def key_list(private_keys: Mapping[str, Any]) -> str:
    public_key = private_keys["current"].public_key()
    public_values = jwt.algorithms.RSAAlgorithm.to_jwk(public_key, as_dict=True)
    return json.dumps({"keys": [{**public_values, "kid": "current", "alg": "RS256", "use": "sig"}]})


def token(private_keys: Mapping[str, Any], key_id: str = "current", **changes: Any) -> str:
    link_ids = {"PROLIFIC_PID": PID, "SESSION_ID": SID, "STUDY_ID": STUDY, "workspace_id": "w"}
    claims = {
        "iss": "https://www.prolific.com",
        "sub": SID,
        "aud": f"https://study.example.org/a/?PROLIFIC_PID={PID}",
        "exp": 2_000,
        "prolific": link_ids,
        **changes,
    }
    signed = jwt.encode(claims, private_keys[key_id], "RS256", headers={"kid": "current"})
    return f"?PROLIFIC_PID={PID}&prolific_token={signed}"


def test_a_place_on_prolific_is_one_hit_whatever_the_address_leaves_out(
    prolific_batch: HitBatch, tmp_path: Path
) -> None:
    link_text = place_link(prolific_batch, 1, 1)
    with desk_of(prolific_batch, tmp_path) as desk:
        hit_reply = desk.give(visit(PID), invited(desk, link_text))[1]
        assert hand_in(desk, hit_reply, PID, "", link_text) == 200
        no_more = desk.give(visit(PID, next=True), invited(desk, link_text))
        assert no_more[1]["done"]["more"] is False
        assert desk.give(visit(PID, SID), invited(desk, link_text))[0] == 409


def test_a_token_of_prolific_lets_its_visit_in(
    prolific_batch: HitBatch, private_keys: Mapping[str, Any], tmp_path: Path
) -> None:
    keys_path = tmp_path / "keys.json"
    keys_path.write_text(key_list(private_keys))
    order_values: dict[str, Any] = {"secured": True, "keys": str(keys_path)}
    link_text, late_link = token(private_keys), token(private_keys, exp=900)
    with desk_of(prolific_batch, tmp_path, **order_values) as desk:
        expired_reply = desk.give(visit(PID, SID, study=STUDY), invited(desk, late_link))
        assert expired_reply[0] == 403 and "expired" in expired_reply[1]["says"]
        http_status, hit_reply = desk.give(visit(PID, SID, study=STUDY), invited(desk, link_text))
        assert http_status == 200
        for other_visit in (visit("8" * 24, SID), visit(PID, "8" * 24), visit(PID, SID, study="x")):
            assert desk.give(other_visit, invited(desk, link_text))[0] == 403
        assert hand_in(desk, hit_reply, "8" * 24, SID, link_text) == 403
    with desk_of(prolific_batch, tmp_path, **order_values) as desk:
        # who has begun goes on and hands in, also after the hour of the token
        assert desk.give(visit(PID, SID, study=STUDY), invited(desk, late_link))[0] == 200
        assert hand_in(desk, hit_reply, PID, SID, late_link) == 200


def test_tokens_that_prolific_did_not_sign_for_us(
    prolific_batch: HitBatch, private_keys: Mapping[str, Any], tmp_path: Path
) -> None:
    keys_path = tmp_path / "keys.json"
    keys_path.write_text(key_list(private_keys))
    good_link = token(private_keys)
    unsigned_token = jwt.encode({"iss": "https://www.prolific.com", "exp": 2_000}, "", "none")
    by_public_key = jwt.encode(
        {"exp": 2_000},
        "a secret that is long enough for HS256",
        "HS256",
        headers={"kid": "current"},
    )
    refused_links = [
        "",
        "?prolific_token=",
        "?prolific_token=a.b.c",
        f"?prolific_token={unsigned_token}",
        f"?prolific_token={by_public_key}",
        good_link[:-4] + "AAAA",
        place_link(prolific_batch),  # --secured wants the token
        token(private_keys, "made-up"),
        token(private_keys, iss="https://www.prolific.example"),
        token(private_keys, aud="https://other.example.org/"),
        token(private_keys, exp="soon"),
        token(private_keys, prolific={"PROLIFIC_PID": PID}),
        token(private_keys, prolific=[PID]),
    ]
    with desk_of(prolific_batch, tmp_path, secured=True, keys=str(keys_path)) as desk:
        assert invited(desk, good_link).visit == (PID, SID)
        assert invited(desk, token(private_keys, aud=["study.example.org"])).study == STUDY
        assert [desk.invitations.read(link) for link in refused_links] == [None] * 13


def test_keys_are_fetched_again_when_one_is_new_and_not_for_each_token(
    private_keys: Mapping[str, Any],
) -> None:
    fetched: list[str] = []

    class KeyHandler(QuietHandler):
        def do_GET(self) -> None:  # noqa: N802
            fetched.append(self.path)
            body = (key_list(private_keys) if len(fetched) < 4 else "<html>").encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    now = [1_000.0]
    with serve_requests(KeyHandler) as address:
        keys = KeyList(f"{address}/jwks.json", now=lambda: now[0])
        keys.fetch()
        for _ in range(5):
            assert keys.find("current") is not None and keys.find("unknown") is None
        assert len(fetched) == 1
        now[0] += 61
        assert keys.find("unknown") is keys.find("unknown") is None
        assert len(fetched) == 2
        now[0] += 86_401
        assert keys.find("current") is not None and len(fetched) == 3
        now[0] += 86_401  # a page instead of the list: the keys that are here stay
        assert keys.find("current") is not None and len(fetched) == 4
        with pytest.raises(UserError, match="no list of public keys"):
            keys.fetch()


def test_orders_that_let_nobody_in_are_refused(hit_batch: HitBatch, tmp_path: Path) -> None:
    for more_values, message in (
        ({"unsigned": True, "secured": True}, "exclude each other"),
        ({"secured": True}, "static secures no parameters"),
    ):
        with pytest.raises(UserError, match=message), desk_of(hit_batch, tmp_path, **more_values):
            pass
