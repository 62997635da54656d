def inc(n):
    return n + 1
