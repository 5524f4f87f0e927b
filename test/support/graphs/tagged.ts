// Puts the fields of graphs that know no surfaces on both.
import { Kind, parse, print, visit } from 'graphql';

/** The supergraph with every field on both surfaces. */
export function tagged(supergraph: string): string {
  const [tag] = parse('type T { a: Int @tag(name: "partner") @tag(name: "member") }').definitions;
  const [field] = (tag?.kind === Kind.OBJECT_TYPE_DEFINITION && tag.fields) || [];
  const [link] = parse(
    'schema @link(url: "https://specs.apollo.dev/tag/v0.3") { query: Query }',
  ).definitions;
  const [linked] = (link?.kind === Kind.SCHEMA_DEFINITION && link.directives) || [];
  const document = visit(parse(supergraph), {
    FieldDefinition: (node) => ({
      ...node,
      directives: [...(node.directives ?? []), ...(field?.directives ?? [])],
    }),
    SchemaDefinition: (node) => ({
      ...node,
      directives: [...(node.directives ?? []), ...(linked ? [linked] : [])],
    }),
  });
  return `${print(document)}\ndirective @tag(name: String!) repeatable on FIELD_DEFINITION\n`;
}
