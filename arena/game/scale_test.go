//go:build !soak

package game_test

// scale is how many times as many random games the properties are tried on; `go test -tags soak` tries more.
const scale = 1
