package reference

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"time"

	"boon.example/client"
)

// golang makes the call by the method of the Go client that is for it, whose types say how its arguments are written.
func (c call) golang() string {
	m, known := c.goMethod()
	if !known { // the probes, and these pages
		return lines("get := http.Client{Timeout: 5 * time.Second}",
			"resp, err := get.Get(os.Getenv(\"BOON_URL\") + "+strconv.Quote(c.address)+")", fail,
			"defer resp.Body.Close()", "_, err = io.Copy(os.Stdout, resp.Body)", "return err")
	}
	made := c.goCall(m)
	head := lines(`boon, err := client.New(os.Getenv("BOON_URL"), os.Getenv("BOON_KEY")`+c.when(c.seconds() == 5,
		",\n\tclient.WithAttemptTimeout(5*time.Second), client.WithAttempts(3)")+")", fail)
	if c.uploads {
		head += lines(`file, err := os.ReadFile("cards.csv")`, fail)
	}
	if c.once {
		file := strconv.Quote(c.keyFile())
		head += lines("\n// "+keptFirst, "key := client.NewKey()", "if kept, err := os.ReadFile("+file+"); err == nil {",
			"\tkey = string(kept)", "} else if err := os.WriteFile("+file+", []byte(key), 0o600); err != nil {", "\treturn err",
			"}\n")
		made = strings.Replace(made, strconv.Quote(theKey), "key", 1)
	}
	switch out := m.Type.Out(0); {
	case c.id == "redeemGift":
		head += lines("// " + strings.Replace(safely, "Voided", "ErrVoided", 1))
		made = strings.Replace(made, "RedeemGift(", "RedeemSafely(", 1)
	case m.Type.NumOut() == 1 && out.Kind() != reflect.Func: // it writes what it gets
		return head + lines("return "+made)
	case out.Kind() == reflect.Func: // page by page
		return head + lines("for one, err := range "+made+" {", "\tif err != nil {\n\t\treturn err\n\t}",
			"\tfmt.Printf(\"%+v\\n\", one)", "}", "return nil")
	case out == reflect.TypeFor[[]byte]():
		return head + lines("file, err := "+made, fail, "_, err = os.Stdout.Write(file)", "return err")
	}
	return head + lines("answer, err := "+made, c.goUndo()+fail, "fmt.Printf(\"%+v\\n\", answer)", "return nil")
}

// goUndo undoes a call that got no answer.
func (c call) goUndo() string {
	u, is := c.undo()
	if !is || c.id == "redeemGift" { // which RedeemSafely does
		return ""
	}
	m, known := u.goMethod()
	if !known {
		panic("the Go client has no " + u.id)
	}
	made := strings.NewReplacer("OriginalKey: "+strconv.Quote(theKey), "OriginalKey: key",
		"IdempotencyKey: "+strconv.Quote(theKey), `IdempotencyKey: "undo-" + key`).Replace(u.goCall(m))
	return lines("if _, is := errors.AsType[*client.UnknownOutcome](err); is {", "\t// "+undone,
		"\t_, err = "+strings.ReplaceAll(made, "\n", "\n\t"), "}")
}

func (c call) goMethod() (reflect.Method, bool) {
	return reflect.TypeFor[*client.Client]().MethodByName(goName(c.id))
}

// goCall is the call alone, under theKey.
func (c call) goCall(m reflect.Method) string {
	args := []string{"ctx"}
	named := c.named()
	for i := 2; i < m.Type.NumIn(); i++ {
		args = append(args, c.argument(m.Type.In(i), &named))
	}
	return fmt.Sprintf("boon.%s(%s)", m.Name, strings.Join(args, ", "))
}

const fail = "if err != nil {\n\treturn err\n}"

// goName is the method that makes an operation's calls.
func goName(operation string) string {
	switch operation {
	case "getGiftHistory":
		return "History"
	case "getRequest":
		return "RequestStatus"
	}
	for _, looks := range []string{"list", "get"} {
		if rest, is := strings.CutPrefix(operation, looks); is {
			return rest
		}
	}
	return strings.ToUpper(operation[:1]) + operation[1:]
}

// named are the values of the address in their order: of the path, then of the query.
func (c call) named() (all []member) {
	for part := range strings.SplitSeq(c.path, "/") {
		if name := strings.Trim(part, "{}"); name != part {
			all = append(all, member{name, node{raw: json.RawMessage(strconv.Quote(c.params[name]))}})
		}
	}
	return append(all, c.query...)
}

// argument writes what a method is given: the next values of the address, or a struct of them and of the body.
func (c call) argument(t reflect.Type, named *[]member) string {
	switch t {
	case reflect.TypeFor[io.Writer]():
		return "os.Stdout"
	case reflect.TypeFor[[]byte]():
		return "file"
	}
	v := reflect.New(t).Elem()
	if t.Kind() != reflect.Struct {
		if len(*named) > 0 {
			set(v, (*named)[0].text())
			*named = (*named)[1:]
		}
		return written(v, 0)
	}
	if c.body != "" {
		if err := json.Unmarshal([]byte(c.body), v.Addr().Interface()); err != nil {
			panic(fmt.Sprintf("the client cannot send the example of %s: %v", c.id, err))
		}
	}
	for _, m := range *named {
		name := map[string]string{"limit": "PageSize", "type": "Types"}[m.name]
		if f := v.FieldByNameFunc(func(field string) bool {
			return field == name || strings.EqualFold(field, m.name)
		}); f.IsValid() {
			set(f, m.text())
		}
	}
	if key := v.FieldByName("IdempotencyKey"); key.IsValid() && c.once {
		key.SetString(theKey)
	}
	if all, amount := v.FieldByName("All"), v.FieldByName("Amount"); all.IsValid() && amount.IsZero() {
		all.SetBool(true)
	}
	return written(v, 0)
}

// set gives a field the value that has a text in an address.
func set(v reflect.Value, text string) {
	number, _ := strconv.Atoi(text)
	switch v.Interface().(type) {
	case time.Duration:
		v.SetInt(int64(time.Duration(number) * time.Second))
	case time.Time:
		at, _ := time.Parse(time.RFC3339, text)
		v.Set(reflect.ValueOf(at))
	case client.Decimal:
		v.Set(reflect.ValueOf(client.MustDecimal(text)))
	case []string:
		v.Set(reflect.ValueOf(strings.Split(text, ",")))
	default:
		switch v.Kind() {
		case reflect.Int:
			v.SetInt(int64(number))
		case reflect.Bool:
			v.SetBool(text == "true")
		default:
			v.SetString(text)
		}
	}
}

// written is a value as Go has it.
func written(v reflect.Value, depth int) string {
	switch value := v.Interface().(type) {
	case client.Decimal:
		return "client.MustDecimal(" + strconv.Quote(value.String()) + ")"
	case time.Time:
		value = value.UTC()
		return fmt.Sprintf("time.Date(%d, %d, %d, %d, %d, %d, 0, time.UTC)", value.Year(), value.Month(), value.Day(),
			value.Hour(), value.Minute(), value.Second())
	case time.Duration:
		return fmt.Sprintf("%d * time.Second", value/time.Second)
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.Elem().Kind() == reflect.Struct {
			return "&" + written(v.Elem(), depth)
		}
		return "new(" + written(v.Elem(), depth) + ")"
	case reflect.Struct:
		return writtenStruct(v, depth)
	case reflect.Slice:
		all := []string{}
		for _, one := range v.Seq2() {
			all = append(all, written(one, depth+1))
		}
		return v.Type().String() + "{" + strings.Join(all, ", ") + "}"
	case reflect.String:
		return strconv.Quote(v.String())
	default:
		return fmt.Sprint(v.Interface())
	}
}

func writtenStruct(v reflect.Value, depth int) string {
	var b strings.Builder
	b.WriteString(v.Type().String() + "{")
	tabs := "\n" + strings.Repeat("\t", depth+1)
	for i := range v.NumField() {
		if f := v.Field(i); !f.IsZero() {
			b.WriteString(tabs + v.Type().Field(i).Name + ": " + written(f, depth+1) + ",")
		}
	}
	if b.String() != v.Type().String()+"{" {
		b.WriteString(tabs[:len(tabs)-1])
	}
	return b.String() + "}"
}
