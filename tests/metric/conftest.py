from hub_server.fixtures import hub
from hypothesis import settings

__all__ = ["hub"]

# How long one example takes says more about the machine's load than about the code.
settings.register_profile("without-deadline", deadline=None)
settings.load_profile("without-deadline")
