package document

import (
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	"boon.example/internal/merchant"
	"boon.example/internal/money"
)

// ReadLimits reads the daily limits of a key as it would read them in a set-up file. A system key has no currency.
func ReadLimits(given map[string]string, c *money.Currency) (merchant.Limits, error) {
	if len(given) == 0 {
		return merchant.Limits{}, nil
	}
	r, node := &reader{file: "--limits"}, &yaml.Node{Kind: yaml.MappingNode}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		for _, text := range []string{name, given[name]} {
			node.Content = append(node.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text})
		}
	}
	limits := fields{reader: r, values: map[string]value{"limits": {Node: node}}}.limits(merchant.Limits{}, c)
	if err := r.problems.Err(r.file); err != nil {
		return merchant.Limits{}, err
	}
	return limits, nil
}
