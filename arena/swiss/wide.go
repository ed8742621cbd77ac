package swiss

import (
	"math/big"
	"math/bits"
)

// wide is a whole number of 192 bits, in two's complement. Squared differences
// of scores need 128 bits, as a score is anything an int64 holds; their sums
// over a field need some more.
type wide struct{ hi, mid, lo uint64 }

func square(x uint64) wide {
	hi, lo := bits.Mul64(x, x)
	return wide{0, hi, lo}
}

func (x wide) plus(y wide) wide {
	var carry uint64
	x.lo, carry = bits.Add64(x.lo, y.lo, 0)
	x.mid, carry = bits.Add64(x.mid, y.mid, carry)
	x.hi, _ = bits.Add64(x.hi, y.hi, carry)
	return x
}

func (x wide) minus(y wide) wide {
	var borrow uint64
	x.lo, borrow = bits.Sub64(x.lo, y.lo, 0)
	x.mid, borrow = bits.Sub64(x.mid, y.mid, borrow)
	x.hi, _ = bits.Sub64(x.hi, y.hi, borrow)
	return x
}

// times multiplies by a small number that is not negative.
func (x wide) times(n int) wide {
	var product wide
	for range n {
		product = product.plus(x)
	}
	return product
}

// sign is -1, 0 or 1.
func (x wide) sign() int {
	switch {
	case int64(x.hi) < 0:
		return -1
	case x == wide{}:
		return 0
	}
	return 1
}

// big is x, which must not be negative.
func (x wide) big() *big.Int {
	n := new(big.Int).SetUint64(x.hi)
	for _, word := range []uint64{x.mid, x.lo} {
		n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(word))
	}
	return n
}
