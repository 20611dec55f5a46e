"""The implementations that a backend offers, by the name of the operator: `backends.portable.peel(graph)`."""

from tgraph.core.dispatch import BACKENDS


class _Offered:
    def __init__(self, name):
        self.name = name

    def __getattr__(self, operator):
        try:
            return BACKENDS[self.name].operators[operator].run
        except KeyError as fault:
            raise AttributeError(f"{self.name} offers no {operator}") from fault

    def refuses(self, call):
        """Why a `Call` is not served, None where it is."""
        return BACKENDS[self.name].operators[call.operation].refuses(call)


portable, native = _Offered("portable"), _Offered("native")
