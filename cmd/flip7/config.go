package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// config is the file of serve --config: a JSON object with flags of serve by their names. What stands on the command line
// or in the environment wins.
type config map[string]string

// readConfig reads a configuration; which keys there may be is checked by Validate.
func readConfig(r io.Reader) (kong.Resolver, error) {
	name := "the file"
	if file, is := r.(*os.File); is {
		name = file.Name()
	}
	var values map[string]any
	decoder := json.NewDecoder(withoutMark(r))
	decoder.UseNumber()
	if err := decoder.Decode(&values); err == io.EOF {
		return nil, fmt.Errorf("--config: %s is empty; want a JSON object", name)
	} else if err != nil {
		return nil, fmt.Errorf("--config: %s is not a JSON object: %w", name, err)
	}
	c := config{}
	for key, value := range values {
		switch v := value.(type) {
		case string, json.Number, bool:
			c[key] = fmt.Sprint(v)
		case []any:
			words := make([]string, len(v))
			for i, word := range v {
				words[i] = fmt.Sprint(word)
			}
			c[key] = strings.Join(words, ",")
		default:
			return nil, fmt.Errorf("--config: %s: is not a string, a number, true, false or a list", key)
		}
	}
	return c, nil
}

// Validate implements kong.Resolver: a misspelt key would silently leave a default.
func (c config) Validate(app *kong.Application) error {
	var known []string
	for _, verb := range app.Children {
		if verb.Name != "serve" {
			continue
		}
		for _, flag := range verb.Flags {
			if flag.Name != "config" {
				known = append(known, flag.Name)
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(c)) {
		if !slices.Contains(known, key) {
			return fmt.Errorf("--config: %q is no flag of serve; those are %s", key, strings.Join(known, ", "))
		}
	}
	return nil
}

// Resolve implements kong.Resolver.
func (c config) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	value, given := c[flag.Name]
	if !given {
		return nil, nil
	}
	for _, env := range flag.Envs {
		if _, set := os.LookupEnv(env); set {
			return nil, nil
		}
	}
	return value, nil
}
