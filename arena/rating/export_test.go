package rating

// Soak is soak for tests that see the package from outside.
const Soak = soak
