from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="WebhookDeliveryDto")


@_attrs_define
class WebhookDeliveryDto:
    """
    Attributes:
        attempts (int): Attempts that have ended.
        completed_at (datetime.datetime | None):
        created_at (datetime.datetime):
        error (None | str): Why the last attempt failed. One of `http_status`, `redirect`, `timeout`,
            `connection_failed`, `address_refused`, `event_expired`, `null`.
        event_id (str): The event; also the `webhook-id` header of every attempt.
        event_type (str):  Example: rollout.promoted.
        last_attempt_at (datetime.datetime | None):
        next_attempt_at (datetime.datetime | None):
        response_status (int | None): HTTP status of the last attempt; null when no answer came.
        status (str): `cancelled`: the webhook was disabled before. One of `pending`, `succeeded`, `failed`,
            `cancelled`.
    """

    attempts: int
    completed_at: datetime.datetime | None
    created_at: datetime.datetime
    error: None | str
    event_id: str
    event_type: str
    last_attempt_at: datetime.datetime | None
    next_attempt_at: datetime.datetime | None
    response_status: int | None
    status: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        attempts = self.attempts

        completed_at: None | str
        if isinstance(self.completed_at, datetime.datetime):
            completed_at = self.completed_at.isoformat()
        else:
            completed_at = self.completed_at

        created_at = self.created_at.isoformat()

        error: None | str
        error = self.error

        event_id = self.event_id

        event_type = self.event_type

        last_attempt_at: None | str
        if isinstance(self.last_attempt_at, datetime.datetime):
            last_attempt_at = self.last_attempt_at.isoformat()
        else:
            last_attempt_at = self.last_attempt_at

        next_attempt_at: None | str
        if isinstance(self.next_attempt_at, datetime.datetime):
            next_attempt_at = self.next_attempt_at.isoformat()
        else:
            next_attempt_at = self.next_attempt_at

        response_status: int | None
        response_status = self.response_status

        status = self.status

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "attempts": attempts,
                "completed_at": completed_at,
                "created_at": created_at,
                "error": error,
                "event_id": event_id,
                "event_type": event_type,
                "last_attempt_at": last_attempt_at,
                "next_attempt_at": next_attempt_at,
                "response_status": response_status,
                "status": status,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        attempts = d.pop("attempts")

        def _parse_completed_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                completed_at_type_0 = datetime.datetime.fromisoformat(data)

                return completed_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        completed_at = _parse_completed_at(d.pop("completed_at"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        def _parse_error(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        error = _parse_error(d.pop("error"))

        event_id = d.pop("event_id")

        event_type = d.pop("event_type")

        def _parse_last_attempt_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                last_attempt_at_type_0 = datetime.datetime.fromisoformat(data)

                return last_attempt_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        last_attempt_at = _parse_last_attempt_at(d.pop("last_attempt_at"))

        def _parse_next_attempt_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                next_attempt_at_type_0 = datetime.datetime.fromisoformat(data)

                return next_attempt_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        next_attempt_at = _parse_next_attempt_at(d.pop("next_attempt_at"))

        def _parse_response_status(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        response_status = _parse_response_status(d.pop("response_status"))

        status = d.pop("status")

        webhook_delivery_dto = cls(
            attempts=attempts,
            completed_at=completed_at,
            created_at=created_at,
            error=error,
            event_id=event_id,
            event_type=event_type,
            last_attempt_at=last_attempt_at,
            next_attempt_at=next_attempt_at,
            response_status=response_status,
            status=status,
        )

        webhook_delivery_dto.additional_properties = d
        return webhook_delivery_dto

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
