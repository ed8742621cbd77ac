//go:build !soak

package swiss_test

const soak = false // see soak_test.go
