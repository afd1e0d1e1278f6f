package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v3"

	"boon.example/internal/command/terminal"
)

// envName is the variable of a flag: BOON_PUBLIC_URL for --public-url; "": it has none.
func envName(f *kong.Value) string {
	if f.Tag == nil || f.Tag.Get("setting") == "" {
		return ""
	}
	return "BOON_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
}

// describe adds the variable to the help of a flag.
func describe(v *kong.Value) string {
	if name := envName(v); name != "" {
		return v.Help + " ($" + name + ")"
	}
	return v.Help
}

// settings looks for what the command line does not say: in the environment, and below it in the file that --config
// names. It runs before defaults are taken.
func settings(t *terminal.Terminal, ctx *kong.Context) error {
	environment := func(_ *kong.Context, _ *kong.Path, f *kong.Flag) (any, error) {
		if name := envName(f.Value); name != "" {
			if v := t.Getenv(name); v != "" {
				return v, nil
			}
		}
		return nil, nil
	}
	for _, f := range ctx.Flags() {
		if f.Name != "config" {
			continue
		}
		file, _ := ctx.FlagValue(f).(string)
		if file == "" {
			file = t.Getenv(envName(f.Value))
		}
		if file != "" {
			values, err := readConfig(file, ctx.Flags())
			if err != nil {
				return err
			}
			ctx.AddResolver(kong.ResolverFunc(func(_ *kong.Context, _ *kong.Path, f *kong.Flag) (any, error) {
				if v, ok := values[f.Name]; ok {
					return v, nil
				}
				return nil, nil
			}))
		}
	}
	ctx.AddResolver(kong.ResolverFunc(environment)) // the last one wins
	return nil
}

// readConfig reads a YAML file of flag names and their values. Names that are not settings are refused, so that a
// misspelt one is not silently the default.
func readConfig(file string, flags []*kong.Flag) (map[string]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("%s is not YAML: %w", file, err)
	}
	if document.IsZero() {
		return nil, nil
	}
	root := document.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("%s:%d: the configuration is lines of the form name: value", file, root.Line)
	}
	var names []string
	for _, f := range flags {
		if f.Tag.Get("setting") == "file" {
			names = append(names, f.Name)
		}
	}
	values := make(map[string]string)
	for i := 0; i+1 < len(root.Content); i += 2 {
		name, value := root.Content[i], root.Content[i+1]
		_, twice := values[name.Value]
		switch {
		case !slices.Contains(names, name.Value):
			return nil, fmt.Errorf("%s:%d: there is no setting %q; there are %s", file, name.Line, name.Value,
				strings.Join(names, ", "))
		case twice:
			return nil, fmt.Errorf("%s:%d: %s is set twice", file, name.Line, name.Value)
		case value.Kind != yaml.ScalarNode || value.Tag == "!!null":
			return nil, fmt.Errorf("%s:%d: %s takes one value", file, value.Line, name.Value)
		}
		values[name.Value] = value.Value
	}
	return values, nil
}
