// A graph in which many places refer to the same few entities, some of which fail.
import type { Data, TestGraph } from './graph.ts';

const item = (sku: string, distance: number, kind = 'Item'): Data => ({
  __typename: kind,
  id: `i${sku}`,
  sku,
  distance,
});

function failing(): never {
  throw new Error('it fails');
}

const stocked = (sku: string): Data => ({
  sku,
  stock: sku === '3' ? failing : Number(sku) * 10,
  owner: { id: `o${Number(sku) % 2}` },
  related: () => [stocked('1'), sku === '4' ? failing() : null, stocked('2')],
  box: { height: Number(sku), maker: { id: 'o1' } },
  parts: [[{ name: 'a', owner: { id: 'o0' } }], [], [{ name: 'b', owner: { id: 'o1' } }]],
});

const owner = (id: string): Data => ({
  id,
  name: `owner ${id}`,
  likes: () => [owner('o1'), owner('o0')],
});

/** The same references again and again; a value that two subgraphs know parts of. */
export const repeats: TestGraph = {
  subgraphs: {
    shop: {
      sdl: `
        type Query { orders: [Order!] best: Item any: [Thing] }
        type Order { items: [Item!] gift: Item nearest: Item }
        interface Thing { sku: ID! }
        type Item implements Thing @key(fields: "id") @key(fields: "sku") {
          id: ID! sku: ID! distance: Int }
        type Set implements Thing @key(fields: "sku") { sku: ID! items: [Item] }`,
      roots: {
        orders: [
          { items: [item('1', 1), item('2', 1), item('1', 2)], gift: item('1', 1), nearest: null },
          { items: [item('3', 1), item('3', 1)], gift: item('3', 3), nearest: item('1', 2) },
          { items: null, gift: item('x', 1), nearest: item('4', 5) },
        ],
        best: item('1', 9),
        any: [
          item('1', 1),
          null,
          { __typename: 'Set', sku: 's', items: [item('1', 2), item('4', 4), item('4', 4)] },
          item('1', 3),
        ],
      },
      entities: { Item: ['1', '2', '3', '4'].map((sku) => ({ id: `i${sku}`, sku })) },
    },
    stock: {
      sdl: `
        type Item @key(fields: "sku") {
          sku: ID! stock: Int! owner: Owner related: [Item] box: Box @shareable parts: [[Part!]!] }
        type Owner @key(fields: "id") { id: ID! }
        type Set @key(fields: "sku") { sku: ID! owner: Owner }
        type Box @key(fields: "height", resolvable: false) { height: Int maker: Owner }
        type Part { name: String owner: Owner }`,
      entities: {
        Item: ['1', '2', '3', '4'].map(stocked),
        Set: [{ sku: 's', owner: { id: 'o1' } }],
      },
    },
    routes: {
      sdl: `
        type Item @key(fields: "id") {
          id: ID! distance: Int @external
          fee: Int @requires(fields: "distance")
          box: Box @shareable @requires(fields: "distance") }
        type Box { weight: Int }`,
      entities: {
        Item: ['i1', 'i2', 'i3', 'i4'].map((id) => ({
          id,
          fee(this: Data) {
            return id === 'i4' ? failing() : this.distance;
          },
          box(this: Data) {
            return { weight: this.distance };
          },
        })),
      },
    },
    people: {
      sdl: `
        type Owner @key(fields: "id") { id: ID! name: String! likes: [Owner!] }
        type Box @key(fields: "height") { height: Int color: String }`,
      entities: {
        Box: [1, 2, 3, 4].map((height) => ({ height, color: `color ${height}` })),
        Owner: ['o0', 'o1'].map(owner),
      },
    },
  },
  operations: [
    '{ orders { items { stock } gift { stock } nearest { stock } } best { stock } }',
    '{ orders { items { owner { name likes { name likes { id } } } } gift { owner { name } } } }',
    '{ orders { items { related { stock related { id distance } } } gift { box { height weight } } } }',
    '{ orders { items { box { weight maker { name } color } } nearest { box { weight height } } } }',
    '{ orders { gift { parts { name owner { name likes { id } } } fee } items { fee sku } } }',
    '{ any { sku ... on Item { stock owner { name } box { weight maker { name } } } ... on Set { owner { name } items { stock fee } } } }',
    '{ any { sku ... on Item { related { stock box { weight } } parts { owner { likes { name } } } } } best { owner { name } } }',
  ],
};
