"""Results that follow the changes of a store.

    follow = tg.dynamic.follow(tg.algorithms.SSSP(0), store)
    store.insert(src, dst, weights)
    follow.values  # of the store's newest version

Changes since the last access are worked in at the next one.
"""
