package swiss_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/flip7-arena/flip7/arena/swiss"
)

func TestReadField(t *testing.T) {
	const file = `{"seats": 3, "seed": 7, "bots": [{"name": "ann", "score": -12, "short": 1, "owner": "kim"}, {"name": "bob"}, {"name": "cat"}],
		"met": [["ann", "bob"], ["gone", "cat"]]}`
	got, err := swiss.ReadField(strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	want := swiss.Field{
		Seats: 3, Seed: []byte("7"),
		Bots: []swiss.Bot{{Name: "ann", Score: -12, Short: 1, Owner: "kim"}, {Name: "bob"}, {Name: "cat"}},
		Met:  [][]string{{"ann", "bob"}, {"gone", "cat"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	text, err := swiss.ReadField(strings.NewReader(strings.Replace(file, `7`, `"7"`, 1)))
	if err != nil || !reflect.DeepEqual(text, want) {
		t.Errorf(`seed "7": %+v, %v, want the same as seed 7`, text, err)
	}
}

func TestReadFieldRefuses(t *testing.T) {
	const bots = `"bots": [{"name": "a"}, {"name": "b"}, {"name": "c"}]`
	for _, c := range []struct{ file, want string }{
		{``, "is empty"},
		{`[]`, "array is not an object"},
		{`{"seats": 4, ` + bots, "unexpected EOF"},
		{`{"seats": 4, ` + bots + `} {}`, "something follows the end of the field"},
		{`{"seats": 4, ` + bots + `, "Seats": 3}`, `"Seats" is there twice`},
		{`{"seats": 4, "bots": [{"name": "a", "score": 1, "score": 2}]}`, `bots[0]: "score" is there twice`},
		{`{` + bots + `}`, "seats: 0 is not 3..18"},
		{`{"seats": "4", ` + bots + `}`, "seats: string is not a whole number of 64 bits"},
		{`{"seats": 4, "seed": 1.5, ` + bots + `}`, "seed: 1.5 is neither a whole number nor a text"},
		{`{"seats": 4, "seed": {}, ` + bots + `}`, "seed: {} is neither a whole number nor a text"},
		{`{"seats": 4, "tables": [], ` + bots + `}`, `json: unknown field "tables"`},
		{`{"seats": 4, "bots": [{"name": "a"}, {"name": "b", "points": 3}]}`, `bots[1]: json: unknown field "points"`},
		{`{"seats": 4, "bots": [{"name": "a"}, {"name": "b", "score": 1.5}]}`, "bots[1].score: number 1.5 is not a whole number of 64 bits"},
		{`{"seats": 4, "bots": [{"name": 3}]}`, "bots[0].name: number is not a text"},
		{`{"seats": 4, "bots": ["a"]}`, "bots[0]: string is not an object"},
		{`{"seats": 4, "bots": [{"name": "a"}]}`, "bots: too few bots: 1, a table needs 3"},
		{`{"seats": 4, "met": ["a"], ` + bots + `}`, "met[0]: string is not a list"},
		{`{"seats": 4, "met": [["a", 1]], ` + bots + `}`, "met[0]: number is not a text"},
	} {
		if _, err := swiss.ReadField(strings.NewReader(c.file)); err == nil || err.Error() != c.want {
			t.Errorf("%s\n got error %v\nwant %s", c.file, err, c.want)
		}
	}
}

// For every file that is read there is a legal pairing.
func FuzzReadField(f *testing.F) {
	f.Add([]byte(`{"seats": 3, "seed": 7, "bots": [{"name": "ann", "score": -12, "short": 1, "owner": "kim"}, {"name": "bob"}, {"name": "cat"}], "met": [["ann", "bob"], ["gone"]]}`))
	f.Add([]byte(`{"seats": 4, "bots": [{"name": "a", "score": 9223372036854775807}, {"name": "b", "score": -9223372036854775808}, {"name": "c"}, {"name": "d"}, {"name": "e"}, {"name": "f"}]}`))
	f.Add([]byte(`{"seats": 18, "seed": "x", "bots": null, "met": null}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		field, err := swiss.ReadField(bytes.NewReader(file))
		if err != nil {
			return
		}
		p, err := swiss.Pair(field)
		if err != nil {
			t.Fatal(err)
		}
		newJudge(field).check(t, p)
		if _, err := field.Explain(p); err != nil {
			t.Fatal(err)
		}
	})
}
