package x;
import java.util.*;
import static a.b.C.d;
@Deprecated
@X(1)
public class A<T> extends B {
  @Override
  public <U> U m() { new Runnable() { public void run() {} }; return null; }
  A() {}
  interface I { void x(); default int y() { return 1; } }
  enum E { A { void z() {} }; int q; E() {} }
  record R(int a) { R { } }
  @interface N { String value() default ""; }
  void m(int o) { class L { void k() {} } }
}
