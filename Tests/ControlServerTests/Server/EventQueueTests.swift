import Testing

@testable import ControlServer

@Suite("Events on their way to one client")
struct EventQueueTests {
  @Test("events come in their order, and what waits at the end is still given")
  func order() async {
    let queue = EventQueue<Int>(capacity: 10)
    for number in 1...3 { queue.put(number) }
    #expect(await queue.take() == [1, 2, 3])
    queue.put(4)
    queue.finish()
    queue.put(5)
    #expect(await queue.take() == [4])
    #expect(await queue.take() == nil)
    #expect(!queue.isOverfull)
  }

  @Test("past its capacity the queue ends, and says so")
  func overfull() async {
    let queue = EventQueue<Int>(capacity: 5)
    #expect(queue.put(1, size: 3))
    #expect(queue.put(2, size: 2))
    #expect(!queue.put(3))
    #expect(!queue.put(4))
    #expect(await queue.take() == nil)
    #expect(queue.isOverfull)
  }

  @Test("what is larger than the queue passes where nothing else waits")
  func large() async {
    let queue = EventQueue<Int>(capacity: 2)
    #expect(queue.put(1, size: 100))
    #expect(await queue.take() == [1])
    #expect(queue.put(2))
    #expect(!queue.put(3, size: 100))
    #expect(queue.isOverfull)
  }

  @Test("a closed queue gives nothing more, and whoever waits is let go")
  func closed() async {
    let queue = EventQueue<Int>(capacity: 5)
    async let taken = queue.take()
    queue.close()
    #expect(await taken == nil)
    queue.put(1)
    #expect(await queue.take() == nil)
    #expect(!queue.isOverfull)
  }
}
