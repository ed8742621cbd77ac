"""The contract as generated from proto/flip7/v1 by generate.sh; see game.proto and play_service.proto."""
