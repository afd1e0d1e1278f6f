package vtex

// Address is one of the addresses below a provider's.
type Address struct{ Method, Pattern string }

// Routes are all that are there.
func Routes() (all []Address) {
	for _, r := range routes() {
		all = append(all, Address{r.method, r.pattern})
	}
	return all
}
