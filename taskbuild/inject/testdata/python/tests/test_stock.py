import pytest

from stock import names, price
from vendor.copied import inc


def test_price():
    assert price(2, 5) == 10
    assert price(1, 7) == 7


def test_discount():
    assert price(10, 10, 20) == 80
    assert price(9, 10, 20) == 90


def test_no_goods():
    with pytest.raises(ValueError):
        price(0, 1)


def test_names():
    assert names(["a", "b", "c"], {"a", "c"}) == ["a", "c"]
    assert names([], {"a"}) == []


def test_inc():
    assert inc(1) == 2
