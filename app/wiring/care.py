"""What may be offered to whom: the offers of OFFERS_FILE with the business database of a tenant behind them."""

from __future__ import annotations

from agents.business.facts import BusinessFacts
from agents.care import CarePolicy
from agents.heads.feeling import EmotionHead
from agents.heads.safety import SafetyHead
from agents.offers import SHIPPED, Offers, load_offers
from app.settings import Settings
from app.wiring.business import Business
from knowledge.errors import InvalidConfiguration


class Care:
    """The care policy of every tenant. Raises InvalidConfiguration for offers that cannot be read or checked."""

    def __init__(self, settings: Settings, business: Business | None) -> None:
        self._threshold = settings.emotion_threshold
        self._business = business
        self._offers = load_offers(settings.offers_file or SHIPPED)
        self._facts = _facts(business, self._offers, shipped=settings.offers_file is None)

    def policy(self, tenant: str, head: EmotionHead | None, safety_head: SafetyHead | None) -> CarePolicy:
        """Without the tenant's own business database nothing is offered; without heads words alone are heard."""
        if self._facts is None or self._business is None or self._business.parts(tenant) is None:
            return CarePolicy(self._threshold, head=head, safety_head=safety_head)
        return CarePolicy(self._threshold, self._offers, self._facts, head, safety_head)


def _facts(business: Business | None, offers: Offers, *, shipped: bool) -> BusinessFacts | None:
    """The shipped offers are those of the sample shop: another company's database has no such members."""
    if business is None:
        return None
    try:
        return BusinessFacts(business.database, offers.queries)
    except InvalidConfiguration:
        if shipped:
            return None
        raise
