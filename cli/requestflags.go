package cli

import (
	"cmp"
	"errors"
	"os"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/google/uuid"

	"relabel"
	"relabel/api"
)

// RequestFlags makes flags of the request types of the API that commands embed; package api
// describes the tags. Absent flags stay absent from the request, so that the server applies
// its defaults.
func RequestFlags() kong.Option {
	return kong.OptionFunc(func(k *kong.Kong) error {
		budget, webhook := relabel.Budget{}, relabel.Webhook{}
		return errors.Join(
			kong.TypeMapper(reflect.TypeFor[*relabel.ID](), kong.MapperFunc(readID)).Apply(k),
			kong.NamedMapper("json", kong.MapperFunc(readJSONFlag)).Apply(k),
			kong.NamedMapper("jsonfile", jsonFiles{}).Apply(k),
			kong.NamedMapper("existingpath", kong.MapperFunc(readExistingPath)).Apply(k),
			kong.Vars{
				"budget_tokens": api.FieldOf(budget, "tokens").Help(), "budget_cost": api.FieldOf(budget, "cost").Help(),
				"webhook_url": api.FieldOf(webhook, "url").Doc, "webhook_secret": api.FieldOf(webhook, "secret").Doc,
			}.Apply(k),
			kong.PostBuild(func(k *kong.Kong) error { return kong.Visit(k.Model, describeFlag) }).Apply(k))
	})
}

// describeFlag sets the name, the help and the bounds of a flag from the tags of a request's
// field.
func describeFlag(node kong.Visitable, next kong.Next) error {
	v, isValue := node.(*kong.Value)
	if !isValue || v.Tag.Get("json")+v.Tag.Get("query") == "" {
		return next(nil)
	}
	name, options, _ := strings.Cut(cmp.Or(v.Tag.Get("json"), v.Tag.Get("query")), ",")
	if v.Tag.Name == "" {
		v.Name = v.Tag.Prefix + strings.ReplaceAll(name, "_", "-")
	}
	bounds := api.Field{Doc: cmp.Or(v.Tag.Help, v.Tag.Get("doc")), Min: v.Tag.Get("minimum"), Max: v.Tag.Get("maximum"), Above: v.Tag.Get("exclusiveMinimum")}
	v.Help = bounds.Help()
	if bounds.Min+bounds.Max+bounds.Above != "" || v.IsSlice() {
		v.Mapper = boundedMapper{v.Mapper, bounds}
	}
	if v.Default != "" {
		v.Help += " Default: " + v.Default + "."
	}
	v.HasDefault, v.Default = false, ""
	if v.Flag != nil {
		v.Required = v.Tag.Has("json") && options != "omitempty" && v.Tag.Prefix == ""
		v.Flag.PlaceHolder = cmp.Or(v.Flag.PlaceHolder, strings.ReplaceAll(v.Enum, ",", "|"))
		if v.Tag.Get("minimum")+v.Tag.Get("exclusiveMinimum") != "" {
			v.Flag.PlaceHolder = cmp.Or(v.Flag.PlaceHolder, "N")
		}
		v.Flag.PlaceHolder = cmp.Or(v.Flag.PlaceHolder, strings.ToUpper(v.Name))
	}
	if v.Enum != "" {
		v.Enum += "," // an absent flag
	}
	return next(nil)
}

// boundedMapper refuses numbers outside their bounds, and so a 0 that the request would omit, and
// empty lists.
type boundedMapper struct {
	kong.Mapper
	bounds api.Field
}

// Decode implements kong.Mapper.
func (m boundedMapper) Decode(ctx *kong.DecodeContext, target reflect.Value) error {
	before := reflect.New(target.Type()).Elem()
	before.Set(target)
	if err := m.Mapper.Decode(ctx, target); err != nil {
		return err
	}
	if target.Kind() == reflect.Slice && target.Len() == before.Len() {
		return relabel.Errorf(relabel.CodeInvalid, "is empty")
	}
	if target.Kind() != reflect.Pointer {
		target = target.Addr()
	}
	return m.bounds.Check(target, "")
}

func readID(ctx *kong.DecodeContext, target reflect.Value) error {
	var word string
	if err := ctx.Scan.PopValueInto("id", &word); err != nil {
		return err
	}
	id, err := uuid.Parse(word)
	if err != nil {
		return relabel.Errorf(relabel.CodeInvalid, "%q is not an id", word)
	}
	target.Set(reflect.ValueOf(&id))
	return nil
}

// readExistingPath reads the path of a file or folder that exists.
func readExistingPath(ctx *kong.DecodeContext, target reflect.Value) error {
	var path string
	if err := ctx.Scan.PopValueInto("path", &path); err != nil {
		return err
	}
	path = kong.ExpandPath(path)
	if _, err := os.Stat(path); err != nil {
		return err
	}
	target.SetString(path)
	return nil
}
