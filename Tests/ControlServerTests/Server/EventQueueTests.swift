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

  @Test("an event with a key replaces the one of this key that waits, and keeps its place")
  func coalescing() async {
    let queue = EventQueue<String>(capacity: 4)
    queue.put("2 available", replacing: 2)
    queue.put("1 available", replacing: 1)
    queue.put("2 running", replacing: 2)
    #expect(await queue.take() == ["2 running", "1 available"])
    queue.put("1 running", replacing: 1)
    #expect(await queue.take() == ["1 running"])
  }

  @Test("replacing takes no room, and more keys than there is room for end the queue")
  func coalescingOverfull() async {
    let queue = EventQueue<Int>(capacity: 2)
    for number in 1...10 { #expect(queue.put(number, replacing: 7)) }
    #expect(queue.put(11, replacing: 8))
    #expect(!queue.put(12, replacing: 9))
    #expect(await queue.take() == nil)
    #expect(queue.isOverfull)
  }
}
