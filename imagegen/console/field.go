package console

import "fmt"

// field is one control of a form, for the templates "field" and "select".
type field struct {
	Name, Label, Hint, Type, Value, Fault string
	Autocomplete, Placeholder, InputMode  string
	Required, Autofocus                   bool
	Min, Max, MinLength, MaxLength, Rows  string
	Options                               []option
}

// option is one choice of a select.
type option struct{ Value, Label string }

// newField is the template function field: the form, the field's name, and then what else there is
// to say of it by name and value in turn.
func newField(f *form, name string, more ...any) (field, error) {
	d := field{Name: name, Label: name, Type: "text", Fault: f.Fault(name)}
	for i := 0; i+1 < len(more); i += 2 {
		if err := d.set(more[i], more[i+1]); err != nil {
			return field{}, fmt.Errorf("console: field %q: %w", name, err)
		}
	}
	if len(more)%2 != 0 {
		return field{}, fmt.Errorf("console: field %q: %v has no value", name, more[len(more)-1])
	}
	if d.Type != "password" {
		d.Value = f.Value(name)
	}
	return d, nil
}

func (d *field) set(what, value any) error {
	texts := map[any]*string{"label": &d.Label, "hint": &d.Hint, "type": &d.Type, "autocomplete": &d.Autocomplete,
		"placeholder": &d.Placeholder, "inputmode": &d.InputMode, "min": &d.Min, "max": &d.Max,
		"minlength": &d.MinLength, "maxlength": &d.MaxLength, "rows": &d.Rows}
	flags := map[any]*bool{"required": &d.Required, "autofocus": &d.Autofocus}
	switch v := value.(type) {
	case bool:
		if to, ok := flags[what]; ok {
			*to = v
			return nil
		}
	case []option:
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
