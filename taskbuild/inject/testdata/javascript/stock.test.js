const { price, names } = require('./stock');

test('price', () => {
  expect(price(2, 5)).toBe(10);
  expect(price(1, 7)).toBe(7);
  expect(price(0, 7)).toBe(0);
});

test('discount', () => {
  expect(price(10, 10, 20)).toBe(80);
  expect(price(9, 10, 20)).toBe(90);
});

test('names', () => {
  expect(names(['a', 'b', 'c'], ['a', 'c'])).toEqual(['a', 'c']);
});
