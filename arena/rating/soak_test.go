//go:build soak

package rating

const soak = true
