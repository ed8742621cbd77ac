// Package flip7v1 is the contract between the arena, its bots and those who
// look on, generated from the .proto files beside it, in which all of it is
// explained: game.proto has the words of the game, play_service.proto is the
// conversation with a bot, the others are for organisers, owners and
// spectators. It does not know how either side does what it promises.
package flip7v1
