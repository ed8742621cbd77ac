package swiss

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// ReadField reads a field as JSON:
//
//	{"seats": 4, "seed": 7,
//	 "bots": [{"name": "ann", "score": 12, "short": 1, "owner": "kim"}, ...],
//	 "met": [["ann", "bob", "cat", "dan"], ...]}
//
// The seed is a whole number or a text, and 7 is the same seed as "7"; it may
// be left out, as may all of a bot but its name, and met. A key that is none of
// these is refused, for it is most likely one of these misspelt. So is anything
// that [Pair] would refuse. An error names the field and the index.
func ReadField(r io.Reader) (Field, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return Field{}, fmt.Errorf("read field: %w", err)
	}
	var file struct {
		Seats int               `json:"seats"`
		Seed  json.RawMessage   `json:"seed"`
		Bots  []json.RawMessage `json:"bots"`
		Met   []json.RawMessage `json:"met"`
	}
	if err := decode(data, "", &file); err != nil {
		return Field{}, err
	}
	f := Field{Seats: file.Seats, Bots: make([]Bot, len(file.Bots)), Met: make([][]string, len(file.Met))}
	if f.Seed, err = seedBytes(file.Seed); err != nil {
		return Field{}, err
	}
	for i, bot := range file.Bots {
		if err := decode(bot, fmt.Sprintf("bots[%d]", i), &f.Bots[i]); err != nil {
			return Field{}, err
		}
	}
	for i, table := range file.Met {
		if err := decode(table, fmt.Sprintf("met[%d]", i), &f.Met[i]); err != nil {
			return Field{}, err
		}
	}
	return f, f.check()
}

// seedBytes takes a whole number as its digits and a text as its bytes.
func seedBytes(value json.RawMessage) ([]byte, error) {
	if len(value) == 0 || string(value) == "null" {
		return nil, nil
	}
	if value[0] == '"' {
		var text string
		err := json.Unmarshal(value, &text)
		return []byte(text), err
	}
	for i, digit := range value {
		if (digit < '0' || digit > '9') && (i > 0 || digit != '-') {
			return nil, fmt.Errorf("seed: %s is neither a whole number nor a text", value)
		}
	}
	return value, nil
}

// decode reads exactly one JSON value without unknown keys. The path is what
// errors begin with.
func decode(data []byte, path string, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	switch {
	case err == io.EOF:
		err = errors.New("is empty")
	case err == nil:
		if _, more := d.Token(); more != io.EOF {
			err = errors.New("something follows the end of the field")
		} else if key := repeated(data); key != "" {
			err = fmt.Errorf("%q is there twice", key)
		}
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if path != "" && wrong.Field != "" {
			path += "."
		}
		path += wrong.Field
		err = fmt.Errorf("%s is not %s", wrong.Value, kindInWords(wrong.Type))
	}
	if err != nil && path != "" {
		return fmt.Errorf("%s: %w", path, err)
	}
	return err
}

// repeated is a key that an object has twice, "" if none is. Decode would take the last
// of them and not say so; it does not tell upper from lower case.
func repeated(data []byte) string {
	d := json.NewDecoder(bytes.NewReader(data))
	if begin, _ := d.Token(); begin != json.Delim('{') {
		return ""
	}
	seen := map[string]bool{}
	for d.More() {
		token, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			return "" // for Decode to tell
		}
		key := token.(string) // keys are
		folded := strings.ToLower(key)
		if seen[folded] {
			return key
		}
		seen[folded] = true
	}
	return ""
}

func kindInWords(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a text"
	case reflect.Slice:
		return "a list"
	case reflect.Struct:
		return "an object"
	default:
		return "a whole number of 64 bits"
	}
}
