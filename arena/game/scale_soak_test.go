//go:build soak

package game_test

// scale is how many times as many random games the properties are tried on under `go test -tags soak -timeout 1h`.
const scale = 50
