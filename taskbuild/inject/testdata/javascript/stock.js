'use strict';

// The price of some goods.
function price(count, each, discount) {
  if (count <= 0) {
    return 0;
  }
  let total = count * each;
  if (count >= 10 && discount) {
    total -= (total * discount) / 100;
  }
  return total;
}

// The goods that are known.
const names = (goods, known) => goods.filter((good) => known.indexOf(good) !== -1);

function never(count) {
  return count > 0 ? count + 1 : count - 1;
}

module.exports = { price, names, never };
