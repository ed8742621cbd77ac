import logging

import flip7  # noqa: F401 # before grpc, which it keeps quiet

# asyncio, in the debug mode of unittest, tells of everything that takes 0.1 s; a busy machine is no fault.
logging.getLogger("asyncio").setLevel(logging.ERROR)
