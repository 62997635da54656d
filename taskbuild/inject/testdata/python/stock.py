"""A stock of goods."""


def price(count, each, discount=0):
    """The price of some goods."""
    if count <= 0:
        raise ValueError("count")
    total = count * each
    if count >= 10 and discount:
        total = total - total * discount // 100
    return total


def names(goods, known):
    found = []
    for good in goods:
        if good not in known:
            continue
        found.append(good)
    return found


def never(count):
    return count + 1 if count > 0 else count - 1
