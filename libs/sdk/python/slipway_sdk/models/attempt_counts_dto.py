from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="AttemptCountsDto")


@_attrs_define
class AttemptCountsDto:
    """
    Attributes:
        cancelled (int): The client left, which says nothing about the revision
        client_error (int): Answered 4xx
        connect_error (int): Ended before the first byte of an answer
        ok (int): Answered 2xx or 3xx to the end
        retried (int): Of those that failed, the ones that no client saw, because a further attempt followed
        server_error (int): Answered 5xx, timed out, or cut after the first byte
    """

    cancelled: int
    client_error: int
    connect_error: int
    ok: int
    retried: int
    server_error: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        cancelled = self.cancelled

        client_error = self.client_error

        connect_error = self.connect_error

        ok = self.ok

        retried = self.retried

        server_error = self.server_error

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "cancelled": cancelled,
                "client_error": client_error,
                "connect_error": connect_error,
                "ok": ok,
                "retried": retried,
                "server_error": server_error,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        cancelled = d.pop("cancelled")

        client_error = d.pop("client_error")

        connect_error = d.pop("connect_error")

        ok = d.pop("ok")

        retried = d.pop("retried")

        server_error = d.pop("server_error")

        attempt_counts_dto = cls(
            cancelled=cancelled,
            client_error=client_error,
            connect_error=connect_error,
            ok=ok,
            retried=retried,
            server_error=server_error,
        )

        attempt_counts_dto.additional_properties = d
        return attempt_counts_dto

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
