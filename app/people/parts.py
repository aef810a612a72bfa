"""What the routes of this feature need of the wiring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from app.http.deps import Wired

if TYPE_CHECKING:
    from app.desk.human_desk import HumanDesk
    from app.keys.authenticator import Authenticator
    from app.keys.service import KeyRing
    from app.limits.attempts import Attempts
    from app.people.service import People
    from app.people.signins import SignIns


class Parts(Protocol):
    """What these routes are served by."""

    attempts: Attempts
    authenticator: Authenticator
    desk: HumanDesk
    keys: KeyRing
    people: People
    sign_ins: SignIns


Wiring = Wired[Parts]
