package document

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
)

// Whatever field of an account or of what belongs to it differs, the comparison sees it: also a field that will be
// added to these types one day.
func TestEveryFieldIsCompared(t *testing.T) {
	t.Parallel()
	full := func() *merchant.Account {
		a := everything(t).Records()[0]
		a.EndedProviders = []merchant.EndedProvider{{ID: guid.ID{2}, Name: "e"}}
		return a
	}
	if words, gone := Diff(full(), full()); len(words)+len(gone) > 0 {
		t.Fatalf("an account differs from itself: %v, %v", words, gone)
	}
	seen := 0
	for i := 0; ; i++ {
		changed := full()
		left := i
		path := change(reflect.ValueOf(changed).Elem(), "Account", &left)
		if path == "" {
			break
		}
		seen++
		follows := strings.HasPrefix(path, "Account.EndedProviders") || // from what was taken out of the file
			path == "Account.KeysLimitMoney" // from the limits of keys
		if words, _ := Diff(full(), canonical(changed)); len(words) == 0 && !follows {
			t.Errorf("a change of %s is not seen", path)
		}
	}
	if seen < 120 {
		t.Errorf("only %d fields were tried", seen)
	}
}

// otherValue gives another value of a type that is changed as a whole; nil: it is changed part by part.
func otherValue(v any) any {
	switch x := v.(type) {
	case guid.ID:
		x[15]++
		return x
	case money.Currency: // its decimals follow from its code
		return money.Currency{Code: "USD", Decimals: 2}
	case *bool:
		other := x == nil || !*x
		return &other
	case time.Time:
		return x.Add(time.Microsecond)
	case *time.Location:
		return time.FixedZone("elsewhere", 60)
	case merchant.Permissions:
		return x + 1
	case merchant.AssetHash:
		x[0]++
		return x
	case []byte:
		return append(slices.Clone(x), 1)
	case merchant.KeyHash:
		x[0]++
		return x
	case merchant.Networks:
		return append(slices.Clone(x), netip.MustParsePrefix("192.0.2.0/24"))
	}
	return nil
}

// change makes the n-th value below v another one and tells where it is; "" when there are fewer.
func change(v reflect.Value, path string, n *int) string {
	here := func() bool { *n--; return *n < 0 }
	if other := otherValue(v.Interface()); other != nil {
		if here() {
			v.Set(reflect.ValueOf(other))
			return path
		}
		return ""
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if p := change(v.Field(i), path+"."+v.Type().Field(i).Name, n); p != "" {
				return p
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			if p := change(v.Index(i), fmt.Sprintf("%s[%d]", path, i), n); p != "" {
				return p
			}
		}
		if v.Len() > 0 && here() {
			v.SetLen(v.Len() - 1)
			return path + " (one less)"
		}
	case reflect.Map: // of texts
		if here() {
			v.Set(reflect.ValueOf(merchant.Translations{merchant.German: "x"}))
			return path + " (another)"
		}
		if here() {
			v.Set(reflect.ValueOf(merchant.Translations{merchant.Japanese: "x"}))
			return path + " (of another language)"
		}
		if here() {
			v.SetZero()
			return path + " (none)"
		}
	case reflect.String:
		if here() {
			v.SetString(v.String() + "x")
			return path
		}
	case reflect.Int, reflect.Int64:
		if here() {
			v.SetInt(v.Int() + 1)
			return path
		}
	case reflect.Bool:
		if here() {
			v.SetBool(!v.Bool())
			return path
		}
	default:
		panic("no change is known for " + path)
	}
	return ""
}
