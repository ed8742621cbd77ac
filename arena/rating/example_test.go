package rating_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/flip7-arena/flip7/arena/rating"
)

func ExampleFit() {
	games, err := rating.ReadGames(strings.NewReader(`
# A night of two tables, two games each.
@cluster
odds=1 stay-25=2 random=3
stay-25=1 random=2 odds=2
@cluster
odds=1 random=2 stay-25=3
odds=1 stay-25=1 random=3
`))
	if err != nil {
		log.Fatal(err)
	}
	table, err := rating.Fit(games, rating.DefaultPrior)
	if err != nil {
		log.Fatal(err)
	}
	scale := table.Scale("stay-25")
	for i, row := range table.Rows {
		fmt.Printf("%d. %-8s%5.0f +- %.0f\n", i+1, row.Name, scale.Elo(row), table.Interval(i))
	}
	los := table.Difference(0, 1).LOS()
	fmt.Printf("%s is the stronger of the first two with %s\n", table.Rows[0].Name, rating.Percent(los, 0))
	// Output:
	// 1. odds     1618 +- 773
	// 2. stay-25  1530 +- 1136
	// 3. random   1352 +- 470
	// odds is the stronger of the first two with 67 %
}
