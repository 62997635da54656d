<html><?php
namespace A\B;
use X\Y;
use X\{A, B as C};
require_once 'a.php';
#[Attr]
final class A extends B {
  use T;
  #[A2]
  public function &x() { return new class { function q() {} }; }
  abstract function y();
}
function f() { function g() {} }
interface I { function z(); } trait T { static function t() {} } enum E: string { case A = 'a'; function e() {} }
$f = function () {};
?>
</html>
