"""Results that follow the changes of a store.

    follow = tg.dynamic.follow(tg.algorithms.SSSP(0), store)
    store.insert(src, dst, weights)
    follow.values  # of the store's present version

What changed since the values were last asked for is worked in when they are asked for again.
"""
