package rating

import (
	"math"
	"strconv"
)

// Percent writes a probability such as "71 %" or "99.62 %", to the given number of decimals. Nothing measured is
// certain: what would be rounded to 0 or 100 is written as "<0.01 %" or ">99.99 %".
func Percent(p float64, decimals int) string {
	unit := math.Pow10(-decimals)
	rounded := math.Round(100*p/unit) * unit
	switch {
	case rounded < unit/2:
		return "<" + strconv.FormatFloat(unit, 'f', decimals, 64) + " %"
	case rounded > 100-unit/2:
		return ">" + strconv.FormatFloat(100-unit, 'f', decimals, 64) + " %"
	}
	return strconv.FormatFloat(rounded, 'f', decimals, 64) + " %"
}
