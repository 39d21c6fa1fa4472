package form

import "fmt"

// Field is a control of a form, for the templates "field" and "select". Most of it becomes attributes of that control.
type Field struct {
	// The label is visible. The hint stands below it, and the fault, if there is any, is announced with it.
	Name, Label, Hint, Type, Value, Fault string
	// Attributes as in HTML; "" and false: the control has none. The lengths are texts, since 0 would be a limit.
	Autocomplete, InputMode string
	MinLength, MaxLength    string
	Required, Autofocus     bool
	Conditional             bool // required or not, depending on another field
	Options                 []Option
}

// Option is a choice of a select.
type Option struct{ Value, Label string }

// Options returns choices, given as alternating values and labels.
func Options(pairs ...string) (all []Option) {
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, Option{pairs[i], pairs[i+1]})
	}
	return all
}

// Optional reports whether the label says that the field may stay empty. A password's label never does.
func (d Field) Optional() bool { return !d.Required && !d.Conditional && d.Type != "password" }

// NewField is the template function field. It is given the form, the field's name, and properties as alternating
// names and values. A property that does not exist, or has another type, is an error of the template. A password's
// value is never shown again.
func NewField(f *Form, name string, more ...any) (Field, error) {
	d := Field{Name: name, Label: name, Type: "text", Fault: f.Fault(name)}
	for i := 0; i+1 < len(more); i += 2 {
		if err := d.setProperty(more[i], more[i+1]); err != nil {
			return Field{}, fmt.Errorf("console: field %q: %w", name, err)
		}
	}
	if len(more)%2 != 0 {
		return Field{}, fmt.Errorf("console: field %q: %v has no value", name, more[len(more)-1])
	}
	if d.Type != "password" {
		d.Value = f.Value(name)
	}
	return d, nil
}

// setProperty sets one property by its name in templates. Texts accept any value that can be printed, such as a number.
func (d *Field) setProperty(what, value any) error {
	texts := map[any]*string{"label": &d.Label, "hint": &d.Hint, "type": &d.Type, "autocomplete": &d.Autocomplete,
		"inputmode": &d.InputMode, "minlength": &d.MinLength, "maxlength": &d.MaxLength}
	flags := map[any]*bool{"required": &d.Required, "conditional": &d.Conditional, "autofocus": &d.Autofocus}
	switch v := value.(type) {
	case bool:
		if to, ok := flags[what]; ok {
			*to = v
			return nil
		}
	case []Option:
		if what == "options" {
			d.Options = v
			return nil
		}
	default:
		if to, ok := texts[what]; ok {
			*to = fmt.Sprint(v)
			return nil
		}
	}
	return fmt.Errorf("%v cannot be set to a %T", what, value)
}
