"""A naive reader of journals and files of rings, written from docs/FORMATS.md and nothing else.

It trusts nothing and shares no code with the library: frames, packed blocks, rings and stacks are taken
apart here, byte by byte, and calls come out as dictionaries with ticks.
"""

import json
import struct
from pathlib import Path

NO_PARENT = 2**64 - 1
MASK = 2**64 - 1
CROSSING, OUTLIVED, RESUMPTION, APPENDED, OPEN = 1, 2, 4, 8, 16


def _make_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


_TABLE = _make_table()


def crc32c(data):
    value = 0xFFFFFFFF
    for byte in data:
        value = value >> 8 ^ _TABLE[(value ^ byte) & 255]
    return value ^ 0xFFFFFFFF


# ---- Frames ---------------------------------------------------------------------------------------


def frame_at(data, at):
    """(kind, payload, bytes of the frame) or None."""
    if data[at : at + 4] != b"SPJF" or len(data) - at < 16:
        return None
    kind, length, stored = struct.unpack_from("<III", data, at + 4)
    size = (16 + length + 7) // 8 * 8
    if at + size > len(data):
        return None
    payload = data[at + 16 : at + 16 + length]
    summed = payload[:16] if kind == 6 else payload
    if crc32c(data[at : at + 12] + bytes(4) + summed) != stored:
        return None
    return kind, payload, size


def frames(data):
    at = 0
    while at < len(data):
        found = frame_at(data, at)
        if found is None:
            at += 8
            continue
        yield found[0], found[1]
        at += found[2]


# ---- Log blocks -----------------------------------------------------------------------------------


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def signed(self):
        value = self.number()
        return value >> 1 ^ -(value & 1)

    def word(self, size):
        value = int.from_bytes(self.data[self.at : self.at + size], "little")
        self.at += size
        return value


def block_is_sound(block):
    if block[:4] != b"SPLB" or len(block) < 64:
        return False
    payload = struct.unpack_from("<I", block, 32)[0]
    stored = struct.unpack_from("<I", block, 36)[0]
    return len(block) >= 64 + payload and stored == crc32c(
        block[:36] + bytes(4) + block[40 : 64 + payload]
    )


def unpack(block):
    """Records of a block: ("call", lane, dict), ("side", ...), ("lost", lane, n), ("drain", ...)."""
    lane, _, records, _, payload = struct.unpack_from("<IQIII", block, 12)
    source = Bytes(block[64 : 64 + payload])
    steps = {}
    region = level = last_end = 0
    for _ in range(records):
        form = source.data[source.at] & 7
        if form < 6:
            word = source.word(5 if form < 3 else 8)
            around = word >> 3 & 1
            gap = word >> 4 & (2**13 - 1 if form < 3 else 2**24 - 1)
            duration = word >> (17 if form < 3 else 28)
            first, second = steps.setdefault(region % 256, [(0, 0), (0, 0)])
            if form % 3 == 2:
                step = (source.number(), source.signed())
            else:
                step = first if form % 3 == 0 else second
            end = (last_end + gap + (0 if around else duration)) & MASK
            start = (end - duration) & MASK
            if step != first:
                steps[region % 256] = [step, first]
            region, level, last_end = step[0], level + step[1], end
            yield "call", lane, {"region": region, "depth": level >> 1, "start": start, "end": end,
                                 "flags": None, "is_resumption": bool(level & 1)}
            continue
        kind = source.word(1) >> 3
        if kind == 0:
            step = (source.number(), source.signed())
            first, second = steps.setdefault(region % 256, [(0, 0), (0, 0)])
            if step != first:
                steps[region % 256] = [step, first]
            start = (last_end + source.signed()) & MASK
            last_end = (start + source.number()) & MASK
            region, level = step[0], level + step[1]
            yield "call", lane, {"region": region, "depth": level >> 1, "start": start,
                                 "end": last_end, "flags": None, "is_resumption": bool(level & 1)}
        elif kind == 1:
            flags, of, depth, below = (source.number() for _ in range(4))
            start = (last_end + source.signed()) & MASK
            end = (start + source.number()) & MASK
            number = source.number()
            parent = (number - source.number()) & MASK
            if not flags & APPENDED:
                source.number(), source.number()
                last_end = end
            yield "call", lane, {"region": of, "depth": depth, "start": start, "end": end,
                                 "flags": flags, "number": number, "parent": parent, "below": below}
        elif kind == 2:
            lane = source.number()
        elif kind == 3:
            start = (last_end + source.signed()) & MASK
            last_end = (start + source.number()) & MASK
            yield "drain", lane, last_end
        elif kind == 4:
            side, length = source.number(), source.number()
            yield "side", lane, (side, source.data[source.at : source.at + length])
            source.at += length
        elif kind == 5:
            yield "lost", lane, source.number()


# ---- Rings ----------------------------------------------------------------------------------------

RECORD_WORDS = {0: 3, 1: 10, 2: 1, 3: 3, 5: 2}


def segments(data):
    at = struct.unpack_from("=Q", data, 56)[0]
    while data[at : at + 4] == b"SPJS":
        names = ("bytes", "address", "state", "head", "top", "ring", "words", "stack", "frames")
        found = dict(zip(names, struct.unpack_from("=9Q", data, at + 8)))
        found["data"] = data[at : at + found["bytes"]]
        if found["address"] != 0:
            yield found
        at += found["bytes"]


def ring_records(words):
    at = 0
    while at < len(words):
        first = words[at]
        kind, low = first >> 56, first & 0xFFFFFFFF
        size = 1 + (low + 7) // 8 if kind == 4 else RECORD_WORDS[kind]
        yield at, kind, words[at : at + size]
        at += size


def of_ring(lane, kind, record):
    first, rest = record[0], record[1:]
    if kind == 0:
        return "call", lane, {"region": first & 0xFFFFFFFF, "depth": first >> 33 & 0x7FFFFF,
                              "start": rest[0], "end": rest[1], "flags": None,
                              "is_resumption": bool(first >> 32 & 1)}
    if kind == 1:
        start, end, flags, number, parent, depth, below = rest[:7]
        return "call", lane, {"region": first & 0xFFFFFFFF, "depth": depth, "start": start,
                              "end": end, "flags": flags, "number": number, "parent": parent,
                              "below": below}
    if kind == 4:
        payload = struct.pack(f"={len(rest)}Q", *rest)
        return "side", lane, (first >> 33 & 0x7FFFFF, payload[: first & 0xFFFFFFFF])
    return ("lost", lane, rest[0]) if kind == 5 else ("drain", lane, 0)


# ---- A recording ----------------------------------------------------------------------------------


class Journal:
    """What all files of one recording say together."""

    def __init__(self, *paths):
        self.owner, self.regions, self.threads, self.anchors = {}, {}, {}, set()
        self.losses = {}
        self.base, self.calls, self.open, self.missing = None, [], [], 0
        self._blocks, self._rings = [], []
        for path in paths:
            data = Path(path).read_bytes()
            if data[:4] == b"SPJR":
                at, _, count = struct.unpack_from("=3Q", data, 32)
                self._take(frames(data[at : at + count]))
                self._rings.append(data)
            else:
                self._take(frames(data))
        self._states = {}
        self._put_together()

    def _take(self, found):
        for kind, payload in found:
            if kind == 1:
                self.owner = json.loads(payload[24:])
                self.id = payload[8:24]
            elif kind == 2:
                self.anchors.add(struct.unpack("<Qqq", payload))
            elif kind == 3:
                self.regions[struct.unpack_from("<I", payload)[0]] = json.loads(payload[4:])
            elif kind == 4:
                self.threads[struct.unpack_from("<I", payload)[0]] = json.loads(payload[4:])
            elif kind == 6 and block_is_sound(payload[16:]):
                self._blocks.append((struct.unpack_from("<4I", payload), payload[16:]))
            elif kind == 8:
                self.losses = json.loads(payload)
            elif kind == 7:
                generation = struct.unpack_from("<I", payload)[0]
                if self.base is None or generation >= self.base[0]:
                    self.base = (generation, payload)

    def _marks(self):
        marks = {}
        if self.base is not None:
            payload = self.base[1]
            _, rings, lanes = struct.unpack_from("<3I", payload)
            at = 24
            for _ in range(rings):
                ring, epoch, words, _, calls = struct.unpack_from("<4IQ", payload, at)
                marks[ring] = (epoch, words, calls)
                at += 24
            for _ in range(lanes):
                lane, levels, ended = struct.unpack_from("<IIQ", payload, at)
                at += 16
                pending = {d: struct.unpack_from("<Q", payload, at + 16 * d)[0] for d in range(levels)}
                self._states[lane] = [ended, pending]
                at += 16 * levels
        return marks

    def _put_together(self):
        marks = self._marks()
        known = {}
        by_ring = {}
        for (ring, epoch, first, last), block in self._blocks:
            known[ring, epoch] = max(known.get((ring, epoch), 0), last)
            running, = struct.unpack_from("<Q", block, 16)
            count, = struct.unpack_from("<I", block, 28)
            mark = marks.get(ring)
            if mark and (epoch < mark[0] or (epoch == mark[0] and last <= mark[1])):
                continue
            by_ring.setdefault(ring, []).append((running, epoch, first, count, list(unpack(block))))
        for ring, (epoch, words, _) in marks.items():
            known[ring, epoch] = max(known.get((ring, epoch), 0), words)
        for data in self._rings:
            for segment in segments(data):
                if segment["state"]:
                    self._take_ring(segment, known, by_ring)
        last_of_lane = {}
        for ring in sorted(by_ring):
            expected = marks[ring][2] if ring in marks else 0
            for running, _, _, count, records in sorted(by_ring[ring], key=lambda b: b[:3]):
                self.missing += running - expected
                expected = running + count
                for record in records:
                    self._resolve(record, last_of_lane)
        for data in self._rings:
            everything = list(segments(data))
            for segment in everything:
                if segment["state"]:
                    self._take_stack(segment, everything, last_of_lane)

    def _take_ring(self, segment, known, by_ring):
        data, place = segment["data"], segment["state"]
        epoch, ring, lane, _, running = struct.unpack_from("=4IQ", data, place)
        head = struct.unpack_from("=Q", data, segment["head"])[0]
        if epoch % 2 or head == 0:
            return
        count = (head - segment["address"] - segment["ring"]) // 8
        words = struct.unpack_from(f"={count}Q", data, segment["ring"])
        done, records, calls = known.get((ring, epoch), 0), [], 0
        for at, kind, record in ring_records(words):
            if at < done:
                running += kind < 2
            else:
                records.append(of_ring(lane, kind, record))
                calls += kind < 2
        if records:
            by_ring.setdefault(ring, []).append((running, epoch, done, calls, records))

    def _resolve(self, record, last_of_lane):
        kind, lane, value = record
        state = self._states.setdefault(lane, [0, {}])
        pending = state[1]
        if kind == "lost":
            state[0] += value
        elif kind == "side" and value[0] == 1:
            self.calls[-1]["metadata"] = json.loads(value[1])
        elif kind == "call":
            depth = value["depth"]
            inside = 1 + pending.get(depth + 1, 0)
            if value["flags"] is None:
                value["number"] = state[0] - pending.get(depth + 1, 0) + depth
                value["parent"] = (
                    NO_PARENT if depth == 0 else value["number"] - 1 - pending.get(depth, 0)
                )
                pending[depth] = pending.get(depth, 0) + inside
                pending[depth + 1] = 0
            elif value["flags"] & APPENDED:
                pending[value["below"]] = pending.get(value["below"], 0) + 1
            else:
                pending[value["below"]] = pending.get(value["below"], 0) + inside
                pending[depth + 1] = 0
            state[0] += 1
            value["lane"] = lane
            self.calls.append(value)
            last_of_lane[lane] = (value["region"], value["start"], depth)

    def _take_stack(self, segment, everything, last_of_lane):
        data = segment["data"]
        lane = struct.unpack_from("=I", data, segment["state"] + 8)[0]
        top = struct.unpack_from("=Q", data, segment["top"])[0]
        for holder in everything:
            if holder["address"] <= top < holder["address"] + holder["bytes"]:
                break
        else:
            return
        count = (top - holder["address"] - holder["stack"]) // 32
        stack = [
            struct.unpack_from("=4Q", holder["data"], holder["stack"] + 32 * i)
            for i in range(count + 1)
        ]
        for i in range(1, count + 1):
            start, key, number, _ = stack[i]
            depth = i - 1 - (key >> 40 & 0x3FFFFF)
            if key >> 63 or last_of_lane.get(lane) == (key & 0xFFFFFFFF, start, depth):
                continue
            below = [f for f in stack[1:i] if f[1] != (1 << 63 | 3)]
            self.open.append({"lane": lane, "region": key & 0xFFFFFFFF, "depth": depth,
                              "start": start, "number": number, "flags": key >> 32 & 31,
                              "parent": below[-1][2] if below else NO_PARENT})

    def name(self, call):
        return self.regions[call["region"]]["name"]

    def counts(self):
        found = {}
        for call in self.calls:
            found[self.name(call)] = found.get(self.name(call), 0) + 1
        return found
