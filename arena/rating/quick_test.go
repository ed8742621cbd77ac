//go:build !soak

package rating

// soak tells the statistical tests to run at full size: go test -tags soak.
const soak = false
