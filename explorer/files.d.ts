// Files that the bundle has as their text.
declare module '*.graphql' {
  const text: string;
  export default text;
}
declare module '*.txt' {
  const text: string;
  export default text;
}
