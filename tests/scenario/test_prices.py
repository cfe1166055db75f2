"""Tests of negotiated discounts: a rule that changes nothing is told."""

import pytest

from tests.scenario.reading import SMALL, notice_ids, read

OWN = "offers: [{name: mine, gpu: l40s, gpus_per_node: 8, usd_per_gpu_hour: 1}]\n"
UNUSED = "notice.price.unused"


@pytest.mark.parametrize(
    ("rule", "more", "told"),
    [
        ("{provider: aws, discount: 20%}", "", False),
        ("{gpu: H100, purchase: spot, discount: 20%}", "", False),
        ("{provider: aws, purchase: monthly, discount: 20%}", "", True),
        ("{provider: lambda, gpu: MI300X, discount: 20%}", "", True),
        ("{provider: aws, discount: 20%}", OWN, True),
        ("{provider: aws, discount: 20%}", f"{OWN}catalog: include\n", False),
        ("{provider: mine, discount: 20%}", OWN, False),
        ("{gpu: l40s, discount: 20%}", OWN, False),
        ("{gpu: l4, discount: 20%}", OWN, True),
        ("{discount: 20%}", OWN, False),
    ],
)
def test_a_rule_that_matches_no_offer_is_told(rule: str, more: str, told: bool) -> None:
    """Tests rules of provider, GPU and purchase kind, with and without the catalog."""
    found = read(f"{SMALL}{more}prices: [{rule}]\n")
    assert (UNUSED in notice_ids(found)) == told


def test_the_rule_is_named() -> None:
    """Tests that of several rules the reader learns which one it is."""
    rules = "[{discount: 5%}, {provider: aws, purchase: owned, discount: 1%}]"
    found = read(f"{SMALL}prices: {rules}\n")
    (text,) = [n.text for n in found.notices if n.id == UNUSED]
    assert text.startswith("Price rule 2 (provider: aws, purchase: owned)")
