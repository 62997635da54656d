#include <vector>
#include "shapes.hpp"

namespace shapes {

template <class T, int N>
class Grid final : public Base {
 public:
  Grid() {}
  ~Grid() = default;
  operator bool() const { return true; }
  bool operator()(int x) { return x > 0; }
  template <typename U>
  void each() {
  }
  void declared();
  enum class Mode { Fast };
};

template <>
template <>
void Grid<int, 2>::each<int>() {}

class EXPORT Exported : public Base<int> {
 public:
  void method() {}
};

struct ALIGNED(16) Aligned {
  int x;
};

}  // namespace shapes

int *shapes::Grid<int, 2> :: rows(int x) {
  return nullptr;
}

shapes::Grid::operator std::string() const { return ""; }
bool operator==(A a, B b) { return false; }
std::ostream& operator<<(std::ostream& o, X x) { return o; }

typedef struct { int a; } Pair;
typedef struct tag {
  struct inner { int b; } c;
} Tag;
struct forward;
static void (*callback(int a))(int) { return nullptr; }
int prototype(int a);
