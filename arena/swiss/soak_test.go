//go:build soak

package swiss_test

// soak makes the tests of this package try everything that they claim:
// go test -tags soak takes some minutes.
const soak = true
