require 'a'
require_relative "b"
x.require 1
module M
  class A::B < C
    def x; end
    def self.y
    end
    def A.z = 1
    def B.w = 2
    class << self
      def s=(v) end
      def ==(o) end
    end
    private def p!
    end
  end
end
def top() def nested; end end
def self.foo; end
class Ordered
  def <=>(other) 0 end
  def <<(x) self end
  def >=(x) end
  def [](i) end
  def +@; end
end
module Range; def inf.call; end; end
