use a::b;
extern crate c;
mod x;
#[derive(Debug)]
// c
#[repr(C)]
pub struct S<T> { a: T }
/// doc
#[inline]
pub fn f() { fn inner() {} }
#[a] impl<T> std::fmt::Debug for &'a m::S<T> where T: X { #[b]
 fn fmt(&self) {} const X: u8 = 1; }
trait T { fn a(); fn b() {} type X; }
mod y { #[test] fn t() {} impl super::S<u8> { pub async unsafe fn z() {} } }
union U { a: u8 } enum E { A }
extern "C" { fn ext(); }
impl T for [u8; 4] { fn a() {} }
#[cfg(x)]
use q;
struct Unit;
